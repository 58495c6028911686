// The global `crypto`: what keys may do, and how algorithms are named (W3C Web Cryptography).
(function (native) {
    const fail = (name, words) => Object.assign(new Error(words), { name });
    const AES = ["AES-CBC", "AES-CTR", "AES-GCM"];
    const RSA = ["RSA-OAEP", "RSA-PSS", "RSASSA-PKCS1-v1_5"];
    const EC = ["ECDSA", "ECDH"];
    const DERIVED = ["PBKDF2", "HKDF"];
    const NAMES = [...AES, ...RSA, ...EC, ...DERIVED, "HMAC"];
    const HASHES = { "SHA-1": 512, "SHA-256": 512, "SHA-384": 1024, "SHA-512": 1024 };
    /** What keys may do: those of one part, else [private, public]. */
    const USES = {
        "HMAC": [["sign", "verify"]],
        "ECDSA": [["sign"], ["verify"]], "ECDH": [["deriveKey", "deriveBits"], []],
        "RSA-OAEP": [["decrypt", "unwrapKey"], ["encrypt", "wrapKey"]],
        "RSA-PSS": [["sign"], ["verify"]], "RSASSA-PKCS1-v1_5": [["sign"], ["verify"]],
        "PBKDF2": [["deriveKey", "deriveBits"]], "HKDF": [["deriveKey", "deriveBits"]],
    };
    for (const name of AES) USES[name] = [["encrypt", "decrypt", "wrapKey", "unwrapKey"]];
    const NUMBERS = ["n", "e", "d", "p", "q", "dp", "dq", "qi"];

    const named = (known, name) => {
        const found = known.find((it) => it.toLowerCase() === String(name).toLowerCase());
        if (found === undefined) throw fail("NotSupportedError", `there is no algorithm ${name} here`);
        return found;
    };
    const read = (given) => {
        const object = typeof given === "string" ? { name: given } : given;
        if (object === null || typeof object !== "object" || object.name === undefined) {
            throw new TypeError("an algorithm is a name, or an object that has one");
        }
        return { ...object, name: named(NAMES, object.name) };
    };
    const hashOf = (given) => {
        const name = given !== null && typeof given === "object" ? given.name : given;
        if (name === undefined || name === null) throw new TypeError("the algorithm needs a hash");
        return named(Object.keys(HASHES), name);
    };
    const source = (value, what) => {
        if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value;
        throw new TypeError(`${what} must be an ArrayBuffer, a typed array or a DataView`);
    };
    const uses = (given, allowed) => {
        const wrong = given.find((use) => !allowed.includes(use));
        if (wrong !== undefined) throw fail("SyntaxError", `the key can't be used to ${wrong}`);
        return [...new Set(given)];
    };

    class CryptoKey {
        #data;
        constructor(type, extractable, algorithm, usages, data) {
            this.type = type; this.extractable = extractable;
            this.algorithm = algorithm; this.usages = usages; this.#data = data;
        }
        static data(key) {
            if (key === null || typeof key !== "object" || !(#data in key)) {
                throw new TypeError("this is no CryptoKey");
            }
            return key.#data;
        }
    }
    const make = (type, extractable, algorithm, usages, data) => {
        if (type !== "public" && usages.length === 0) {
            throw fail("SyntaxError", "a key needs something that it may be used for");
        }
        return new CryptoKey(type, Boolean(extractable), algorithm, usages, data);
    };
    /** The key's data, if it is of this algorithm and may be used so. */
    const use = (key, name, what, type) => {
        const data = CryptoKey.data(key);
        if (key.algorithm.name !== name) {
            throw fail("InvalidAccessError", `the key is of ${key.algorithm.name}, not of ${name}`);
        }
        if (!key.usages.includes(what)) {
            throw fail("InvalidAccessError", `the key may not be used to ${what}`);
        }
        if (type !== undefined && key.type !== type) {
            throw fail("InvalidAccessError", `the key is not ${type}`);
        }
        return data;
    };

    const generate = (algorithm, extractable, usages) => {
        const { name } = algorithm;
        const pair = (own, privateData, publicData) => ({
            privateKey: make("private", extractable, own,
                usages.filter((use) => USES[name][0].includes(use)), privateData),
            publicKey: make("public", true, own,
                usages.filter((use) => USES[name][1].includes(use)), publicData),
        });
        uses(usages, USES[name].flat());
        if (AES.includes(name)) {
            const { length } = algorithm;
            if (![128, 192, 256].includes(length)) {
                throw fail("OperationError", "a key of AES has 128, 192 or 256 bits");
            }
            return make("secret", extractable, { name, length }, usages, native.random(length / 8));
        }
        if (name === "HMAC") {
            const hash = hashOf(algorithm.hash);
            const length = algorithm.length ?? HASHES[hash];
            if (!(length > 0)) throw fail("OperationError", "the length of a key can't be zero");
            return make("secret", extractable, { name, hash: { name: hash }, length }, usages,
                native.random(Math.ceil(length / 8)));
        }
        if (EC.includes(name)) {
            const { namedCurve } = algorithm;
            const data = native.ecGenerate(String(namedCurve));
            return pair({ name, namedCurve }, data, { point: data.point });
        }
        if (RSA.includes(name)) {
            const { modulusLength, publicExponent } = algorithm;
            const der = native.rsaGenerate(modulusLength);
            const own = { name, modulusLength, publicExponent, hash: { name: hashOf(algorithm.hash) } };
            return pair(own, { der }, { der: native.rsaPublic(der) });
        }
        throw fail("NotSupportedError", `keys of ${name} can't be generated`);
    };

    const importSecret = (format, given, algorithm, extractable, usages) => {
        const { name } = algorithm;
        let data;
        if (format === "raw") data = source(given, "the key");
        else if (format === "jwk" && !DERIVED.includes(name)) {
            if (given?.kty !== "oct") throw fail("DataError", "the key is none of the type oct");
            data = native.decode(given.k);
        } else throw fail("NotSupportedError", `keys of ${name} can't be imported as ${format}`);
        const bytes = new Uint8Array(data instanceof ArrayBuffer ? data : new Uint8Array(
            data.buffer, data.byteOffset, data.byteLength)).slice().buffer;
        const length = bytes.byteLength * 8;
        uses(usages, USES[name][0]);
        if (AES.includes(name)) {
            if (![128, 192, 256].includes(length)) {
                throw fail("DataError", "a key of AES has 128, 192 or 256 bits");
            }
            return make("secret", extractable, { name, length }, usages, bytes);
        }
        if (name === "HMAC") {
            if (length === 0) throw fail("DataError", "the key is empty");
            const hash = { name: hashOf(algorithm.hash) };
            return make("secret", extractable, { name, hash, length }, usages, bytes);
        }
        if (extractable) throw fail("SyntaxError", `keys of ${name} can't be extractable`);
        return make("secret", false, { name }, usages, bytes);
    };

    const importPair = (format, given, algorithm, extractable, usages) => {
        const { name, namedCurve } = algorithm;
        const isCurve = EC.includes(name);
        const isPrivate = format === "pkcs8" || format === "jwk" && given?.d !== undefined;
        uses(usages, USES[name][isPrivate ? 0 : 1]);
        let data;
        if (isCurve) {
            if (format === "pkcs8") data = native.ecFromPkcs8(namedCurve, source(given, "the key"));
            else if (format === "raw" || format === "spki") {
                data = { point: native.ecPoint(namedCurve, source(given, "the key")) };
            } else {
                if (given?.kty !== "EC" || given.crv !== namedCurve) {
                    throw fail("DataError", `the key is none of the curve ${namedCurve}`);
                }
                const [x, y] = [native.decode(given.x), native.decode(given.y)];
                const point = new Uint8Array(1 + x.byteLength + y.byteLength);
                point[0] = 4;
                point.set(new Uint8Array(x), 1);
                point.set(new Uint8Array(y), 1 + x.byteLength);
                data = { point: native.ecPoint(namedCurve, point) };
                if (isPrivate) {
                    data.scalar = native.decode(given.d);
                    native.ecToPkcs8(namedCurve, data.scalar, data.point);
                }
            }
        } else if (format === "jwk") {
            if (given?.kty !== "RSA") throw fail("DataError", "the key is none of RSA");
            const names = isPrivate ? NUMBERS : NUMBERS.slice(0, 2);
            data = { der: native.rsaKey(names.map((part) => native.decode(String(given[part])))) };
        } else if (format === "pkcs8" || format === "spki") {
            const bytes = source(given, "the key");
            data = { der: native.rsaKey(
                native.rsaNumbers(bytes, isPrivate).map((number) => native.decode(number))) };
        } else throw fail("NotSupportedError", `keys of ${name} can't be imported as ${format}`);
        const own = isCurve ? { name, namedCurve } : ofRsa(algorithm, data.der, isPrivate);
        return make(isPrivate ? "private" : "public", extractable, own, usages, data);
    };
    const ofRsa = ({ name, hash }, der, isPrivate) => {
        const modulusLength = native.rsaBits(isPrivate ? native.rsaPublic(der) : der);
        const exponent = native.decode(native.rsaNumbers(der, isPrivate)[1]);
        return { name, modulusLength, publicExponent: new Uint8Array(exponent),
            hash: { name: hashOf(hash) } };
    };

    const FORMATS = ["raw", "pkcs8", "spki", "jwk"];
    const importKey = (format, given, algorithm, extractable, usages) => {
        if (!FORMATS.includes(format)) throw fail("NotSupportedError", `there is no format ${format}`);
        const isPair = EC.includes(algorithm.name) || RSA.includes(algorithm.name);
        return (isPair ? importPair : importSecret)(format, given, algorithm, extractable, usages);
    };

    const jwk = (key, data) => {
        const { name, namedCurve, hash, length } = key.algorithm;
        const common = { ext: key.extractable, key_ops: key.usages };
        if (key.type === "secret") {
            const alg = name === "HMAC" ? hash.name.replace("SHA-", "HS")
                : `A${length}${name.slice(4)}`;
            return { kty: "oct", k: native.encode(data), alg, ...common };
        }
        if (EC.includes(name)) {
            const size = (data.point.byteLength - 1) / 2;
            const made = { kty: "EC", crv: namedCurve,
                x: native.encode(data.point.slice(1, 1 + size)),
                y: native.encode(data.point.slice(1 + size)), ...common };
            if (key.type === "private") made.d = native.encode(data.scalar);
            return made;
        }
        const numbers = native.rsaNumbers(data.der, key.type === "private");
        const bits = hash.name.slice(4);
        const alg = name === "RSA-OAEP" ? (bits === "1" ? "RSA-OAEP" : `RSA-OAEP-${bits}`)
            : `${name === "RSA-PSS" ? "PS" : "RS"}${bits}`;
        const parts = Object.fromEntries(numbers.map((number, at) => [NUMBERS[at], number]));
        return { kty: "RSA", alg, ...parts, ...common };
    };
    const exportKey = (format, key) => {
        const data = CryptoKey.data(key);
        const { name, namedCurve } = key.algorithm;
        if (!FORMATS.includes(format)) throw fail("NotSupportedError", `there is no format ${format}`);
        if (!key.extractable) throw fail("InvalidAccessError", "the key is not extractable");
        if (format === "jwk") return jwk(key, data);
        const isCurve = EC.includes(name);
        if (key.type === "secret" && format === "raw") return data.slice();
        if (key.type === "public" && format === "raw" && isCurve) return data.point.slice();
        if (key.type === "public" && format === "spki") {
            return isCurve ? native.ecToSpki(namedCurve, data.point) : data.der.slice();
        }
        if (key.type === "private" && format === "pkcs8") {
            return isCurve ? native.ecToPkcs8(namedCurve, data.scalar, data.point) : data.der.slice();
        }
        const kind = key.type === "secret" ? "NotSupportedError" : "InvalidAccessError";
        throw fail(kind, `a ${key.type} key of ${name} can't be exported as ${format}`);
    };

    const change = (encrypts, algorithm, key, data) => {
        const { name } = algorithm;
        const what = encrypts ? "encrypt" : "decrypt";
        const own = use(key, name, what);
        const given = (part, other) => (algorithm[part] === undefined && other !== undefined
            ? other : source(algorithm[part], part));
        source(data, "the data");
        switch (name) {
            case "AES-CBC": return native.cbc(encrypts, own, given("iv"), data);
            case "AES-CTR": return native.ctr(own, given("counter"), algorithm.length, data);
            case "AES-GCM": return native.gcm(encrypts, own, given("iv"),
                given("additionalData", new ArrayBuffer(0)), algorithm.tagLength ?? 128, data);
            case "RSA-OAEP": {
                const run = encrypts ? native.rsaEncrypt : native.rsaDecrypt;
                const label = given("label", new ArrayBuffer(0));
                return run(own.der, key.algorithm.hash.name, label, data);
            }
            default: throw fail("NotSupportedError", `${name} can't ${what}`);
        }
    };
    /** Salts are as long as the digest here. */
    const checkSalt = (algorithm, hash) => {
        const length = native.digest(hash, new ArrayBuffer(0)).byteLength;
        if (algorithm.saltLength !== undefined && algorithm.saltLength !== length) {
            throw fail("NotSupportedError", `the salt of RSA-PSS has ${length} bytes here`);
        }
    };
    const sign = (algorithm, key, data) => {
        const { name } = algorithm;
        const own = use(key, name, "sign");
        source(data, "the data");
        if (name === "HMAC") return native.hmac(key.algorithm.hash.name, own, data);
        if (name === "ECDSA") {
            const { namedCurve } = key.algorithm;
            return native.ecSign(namedCurve, hashOf(algorithm.hash), own.scalar, own.point, data);
        }
        const hash = key.algorithm.hash.name;
        if (name === "RSA-PSS") checkSalt(algorithm, hash);
        return native.rsaSign(own.der, name === "RSA-PSS", hash, data);
    };
    const verify = (algorithm, key, signature, data) => {
        const { name } = algorithm;
        const own = use(key, name, "verify");
        source(signature, "the signature");
        source(data, "the data");
        if (name === "HMAC") {
            return native.equal(native.hmac(key.algorithm.hash.name, own, data), signature);
        }
        if (name === "ECDSA") {
            const { namedCurve } = key.algorithm;
            return native.ecVerify(namedCurve, hashOf(algorithm.hash), own.point, signature, data);
        }
        const hash = key.algorithm.hash.name;
        if (name === "RSA-PSS") checkSalt(algorithm, hash);
        return native.rsaVerify(own.der, name === "RSA-PSS", hash, signature, data);
    };
    const derive = (algorithm, key, length, what) => {
        const { name } = algorithm;
        const own = use(key, name, what);
        if (name === "ECDH") {
            const other = CryptoKey.data(algorithm.public);
            if (algorithm.public.type !== "public"
                || algorithm.public.algorithm.namedCurve !== key.algorithm.namedCurve) {
                throw fail("InvalidAccessError", "the other key is none of the same curve");
            }
            const secret = native.ecDerive(key.algorithm.namedCurve, own.scalar, other.point);
            if (length === undefined || length === null || length === 0) return secret;
            if (length > secret.byteLength * 8) {
                throw fail("OperationError", "the secret is not so long");
            }
            return secret.slice(0, Math.ceil(length / 8));
        }
        if (!(length > 0) || length % 8 !== 0) {
            throw fail("OperationError", "the length must be a multiple of eight bits");
        }
        const hash = hashOf(algorithm.hash);
        const salt = source(algorithm.salt, "the salt");
        if (name === "PBKDF2") return native.pbkdf2(hash, own, salt, algorithm.iterations, length / 8);
        return native.hkdf(hash, own, salt, source(algorithm.info, "the info"), length / 8);
    };
    const deriveKey = (algorithm, key, wanted, extractable, usages) => {
        let length = wanted.length ?? (wanted.name === "HMAC" ? HASHES[hashOf(wanted.hash)] : null);
        if (DERIVED.includes(wanted.name)) length = null;
        const bits = derive(algorithm, key, length, "deriveKey");
        return importSecret("raw", bits, wanted, extractable, usages);
    };

    class SubtleCrypto {
        async digest(algorithm, data) { return native.digest(hashOf(algorithm), source(data, "the data")); }
        async generateKey(algorithm, extractable, usages) {
            return generate(read(algorithm), extractable, usages);
        }
        async importKey(format, given, algorithm, extractable, usages) {
            return importKey(format, given, read(algorithm), extractable, usages);
        }
        async exportKey(format, key) { return exportKey(format, key); }
        async encrypt(algorithm, key, data) { return change(true, read(algorithm), key, data); }
        async decrypt(algorithm, key, data) { return change(false, read(algorithm), key, data); }
        async sign(algorithm, key, data) { return sign(read(algorithm), key, data); }
        async verify(algorithm, key, signature, data) {
            return verify(read(algorithm), key, signature, data);
        }
        async deriveBits(algorithm, key, length) {
            return derive(read(algorithm), key, length, "deriveBits");
        }
        async deriveKey(algorithm, key, wanted, extractable, usages) {
            return deriveKey(read(algorithm), key, read(wanted), extractable, usages);
        }
        async wrapKey() { throw fail("NotSupportedError", "keys can't be wrapped here"); }
        async unwrapKey() { throw fail("NotSupportedError", "keys can't be unwrapped here"); }
    }

    const INTEGERS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array,
        Uint32Array, BigInt64Array, BigUint64Array];
    const RANDOM_BYTES_MAX = 65536;
    return {
        subtle: new SubtleCrypto(),
        CryptoKey,
        getRandomValues(array) {
            if (!INTEGERS.some((kind) => array instanceof kind)) {
                throw fail("TypeMismatchError", "only arrays of integers can be filled");
            }
            if (array.byteLength > RANDOM_BYTES_MAX) {
                throw fail("QuotaExceededError", `at most ${RANDOM_BYTES_MAX} bytes at a time`);
            }
            const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
            view.set(new Uint8Array(native.random(array.byteLength)));
            return array;
        },
        randomUUID() {
            const bytes = new Uint8Array(native.random(16));
            bytes[6] = (bytes[6] & 0x0f) | 0x40;
            bytes[8] = (bytes[8] & 0x3f) | 0x80;
            const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
            return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
        },
    };
})
