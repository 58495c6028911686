// The global `crypto`: what keys may do, and how algorithms are named (W3C Web Cryptography).
(function (native) {
    const fail = (name, words) => Object.assign(new Error(words), { name });
    const AES = ["AES-CBC", "AES-CTR", "AES-GCM"];
    const RSA = ["RSA-OAEP", "RSA-PSS", "RSASSA-PKCS1-v1_5"];
    const EC = ["ECDSA", "ECDH"];
    const DERIVED = ["PBKDF2", "HKDF"];
    const NAMES = [...AES, ...RSA, ...EC, ...DERIVED, "HMAC"];
    const CIPHERS = [...AES, "RSA-OAEP"];
    const SIGNERS = ["HMAC", "ECDSA", "RSA-PSS", "RSASSA-PKCS1-v1_5"];
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
    const ANY_USE = [...new Set(Object.values(USES).flat(2))];
    const NUMBERS = ["n", "e", "d", "p", "q", "dp", "dq", "qi"];

    const named = (known, name) => {
        const found = known.find((it) => it.toLowerCase() === String(name).toLowerCase());
        if (found === undefined) throw fail("NotSupportedError", `there is no algorithm ${name} here`);
        return found;
    };
    const read = (given) => {
        const object = typeof given === "string" ? { name: given } : given;
        if (object === null || typeof object !== "object") {
            throw new TypeError("an algorithm is a name, or an object that has one");
        }
        return { ...object, name: named(NAMES, object.name) };
    };
    /** Of those that can do it. */
    const of = (known, algorithm, what) => {
        if (known.includes(algorithm.name)) return algorithm;
        throw fail("NotSupportedError", `${algorithm.name} can't ${what}`);
    };
    /** A part of an algorithm that has to be there. */
    const needed = (algorithm, part) => {
        const value = algorithm[part];
        if (value !== undefined && value !== null) return value;
        throw fail("SyntaxError", `the algorithm needs a ${part}`);
    };
    const whole = (value) => {
        const number = Math.trunc(Number(value)) || 0;
        if (Math.abs(number) < 2 ** 31) return number;
        throw fail("OperationError", `${number} is too large`);
    };
    const hashOf = (given) => {
        const name = given !== null && typeof given === "object" ? given.name : given;
        if (name === undefined || name === null) throw fail("SyntaxError", "the algorithm needs a hash");
        return named(Object.keys(HASHES), name);
    };
    const source = (value, what) => {
        if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value;
        const told = `${what} must be an ArrayBuffer, a typed array or a DataView`;
        if (value === undefined || value === null) throw new TypeError(told);
        throw fail("OperationError", told);
    };
    /** What goes with the data; a text counts as its bytes in UTF-8. */
    const beside = (value, what) => (typeof value === "string" ? value : source(value, what));
    const uses = (given, allowed) => {
        const all = [...new Set(given ?? [])];
        const wrong = all.find((use) => !allowed.includes(use));
        if (wrong !== undefined) throw fail("SyntaxError", `the key can't be used to ${wrong}`);
        return all;
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
        if (key.type !== type) {
            throw fail("InvalidAccessError", `the key is not ${type}`);
        }
        return data;
    };

    /** Both halves; either may be of no use. */
    const pair = (algorithm, extractable, usages, privateData, publicData) => {
        if (usages.length === 0) {
            throw fail("SyntaxError", "a key needs something that it may be used for");
        }
        const [own, others] = USES[algorithm.name].map((allowed) =>
            usages.filter((use) => allowed.includes(use)));
        return {
            privateKey: new CryptoKey("private", Boolean(extractable), algorithm, own, privateData),
            publicKey: new CryptoKey("public", true, algorithm, others, publicData),
        };
    };
    const generateRsa = (algorithm, extractable, usages) => {
        const { name } = algorithm;
        const [modulusLength, publicExponent] = [
            whole(needed(algorithm, "modulusLength")), needed(algorithm, "publicExponent")];
        const hash = { name: hashOf(algorithm.hash) };
        if (!(publicExponent instanceof Uint8Array)
            || publicExponent.reduce((number, byte) => number * 256 + byte, 0) !== 65537) {
            throw fail("OperationError", "the publicExponent must be new Uint8Array([1, 0, 1])");
        }
        const der = native.rsaGenerate(modulusLength);
        return pair({ name, modulusLength, publicExponent, hash }, extractable, usages,
            { der }, { der: native.rsaPublic(der) });
    };
    const generate = (algorithm, extractable, given) => {
        const { name } = algorithm;
        const usages = uses(given, USES[name].flat());
        if (AES.includes(name)) {
            const length = whole(needed(algorithm, "length"));
            if (![128, 192, 256].includes(length)) {
                throw fail("OperationError", "a key of AES has 128, 192 or 256 bits");
            }
            return make("secret", extractable, { name, length }, usages, native.random(length / 8));
        }
        if (name === "HMAC") {
            const hash = hashOf(algorithm.hash);
            const length = whole(algorithm.length ?? HASHES[hash]);
            if (!(length > 0)) throw fail("OperationError", "the length of a key can't be zero");
            return make("secret", extractable, { name, hash: { name: hash }, length }, usages,
                native.random(Math.ceil(length / 8)));
        }
        if (EC.includes(name)) {
            const namedCurve = String(needed(algorithm, "namedCurve"));
            const data = native.ecGenerate(namedCurve);
            return pair({ name, namedCurve }, extractable, usages, data, { point: data.point });
        }
        if (RSA.includes(name)) return generateRsa(algorithm, extractable, usages);
        throw fail("NotSupportedError", `keys of ${name} can't be generated`);
    };

    /** Bytes of a key in JSON. */
    const part = (key, name) => {
        const text = key?.[name];
        if (typeof text === "string" && text !== "") return native.decode(text);
        throw fail("DataError", `the key needs its part ${name}`);
    };
    const importSecret = (format, given, algorithm, extractable, wanted) => {
        const { name } = algorithm;
        let data;
        if (format === "raw") data = source(given, "the key");
        else if (format === "jwk" && !DERIVED.includes(name)) {
            if (given?.kty !== "oct") throw fail("DataError", "the key is none of the type oct");
            data = part(given, "k");
        } else throw fail("NotSupportedError", `keys of ${name} can't be imported as ${format}`);
        const bytes = new Uint8Array(data instanceof ArrayBuffer ? data : new Uint8Array(
            data.buffer, data.byteOffset, data.byteLength)).slice().buffer;
        const length = bytes.byteLength * 8;
        const usages = uses(wanted, USES[name][0]);
        if (AES.includes(name)) {
            if (![128, 192, 256].includes(length)) {
                throw fail("DataError", "a key of AES has 128, 192 or 256 bits");
            }
            return make("secret", extractable, { name, length }, usages, bytes);
        }
        if (name === "HMAC") {
            if (length === 0) throw fail("DataError", "the key is empty");
            if (whole(algorithm.length ?? length) !== length) {
                throw fail("DataError", `the key has ${length} bits, the algorithm says another length`);
            }
            const hash = { name: hashOf(algorithm.hash) };
            return make("secret", extractable, { name, hash, length }, usages, bytes);
        }
        if (extractable) throw fail("SyntaxError", `keys of ${name} can't be extractable`);
        return make("secret", false, { name }, usages, bytes);
    };

    const importCurve = (format, given, namedCurve, isPrivate) => {
        const bytes = () => source(given, "the key");
        if (format === "pkcs8") return native.ecFromPkcs8(namedCurve, bytes());
        if (format === "raw") return { point: native.ecFromRaw(namedCurve, bytes()) };
        if (format === "spki") return { point: native.ecFromSpki(namedCurve, bytes()) };
        if (given?.kty !== "EC" || given.crv !== namedCurve) {
            throw fail("DataError", `the key is none of the curve ${namedCurve}`);
        }
        const [x, y] = [part(given, "x"), part(given, "y")];
        const point = new Uint8Array(1 + x.byteLength + y.byteLength);
        point[0] = 4;
        point.set(new Uint8Array(x), 1);
        point.set(new Uint8Array(y), 1 + x.byteLength);
        const data = { point: native.ecFromRaw(namedCurve, point) };
        if (isPrivate) {
            data.scalar = part(given, "d");
            // Whether both belong together.
            native.ecToPkcs8(namedCurve, data.scalar, data.point);
        }
        return data;
    };
    const importRsa = (format, given, name, isPrivate) => {
        if (format === "raw") {
            throw fail("NotSupportedError", `keys of ${name} can't be imported as raw`);
        }
        let numbers;
        if (format === "jwk") {
            if (given?.kty !== "RSA") throw fail("DataError", "the key is none of RSA");
            const names = isPrivate ? NUMBERS : NUMBERS.slice(0, 2);
            numbers = names.map((name) => part(given, name));
        } else {
            const bytes = source(given, "the key");
            numbers = native.rsaNumbers(bytes, isPrivate).map((number) => native.decode(number));
        }
        return { der: native.rsaKey(numbers) };
    };
    /** Usages that the algorithm does not have are taken, as by k6: a key can't be used so. */
    const importPair = (format, given, algorithm, extractable, wanted) => {
        const { name } = algorithm;
        const usages = uses(wanted, ANY_USE);
        const isPrivate = format === "pkcs8" || format === "jwk" && given?.d !== undefined;
        const type = isPrivate ? "private" : "public";
        if (EC.includes(name)) {
            const namedCurve = String(needed(algorithm, "namedCurve"));
            const data = importCurve(format, given, namedCurve, isPrivate);
            return make(type, extractable, { name, namedCurve }, usages, data);
        }
        const data = importRsa(format, given, name, isPrivate);
        return make(type, extractable, ofRsa(algorithm, data.der, isPrivate), usages, data);
    };
    const ofRsa = ({ name, hash }, der, isPrivate) => {
        const modulusLength = native.rsaBits(isPrivate ? native.rsaPublic(der) : der);
        const exponent = native.decode(native.rsaNumbers(der, isPrivate)[1]);
        return { name, modulusLength, publicExponent: new Uint8Array(exponent),
            hash: { name: hashOf(hash) } };
    };

    const FORMATS = ["raw", "pkcs8", "spki", "jwk"];
    const importKey = (format, given, algorithm, extractable, usages) => {
        if (!FORMATS.includes(format)) throw fail("ImplementationError", `there is no format ${format}`);
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
        if (!key.extractable) throw fail("InvalidAccessError", "the key is not extractable");
        if (!FORMATS.includes(format)) throw fail("NotSupportedError", `there is no format ${format}`);
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
        const isNone = key.type === "secret" || format === "raw" && !isCurve;
        const kind = isNone ? "NotSupportedError" : "InvalidAccessError";
        throw fail(kind, `a ${key.type} key of ${name} can't be exported as ${format}`);
    };

    const change = (encrypts, algorithm, key, data) => {
        const { name } = algorithm;
        const what = encrypts ? "encrypt" : "decrypt";
        const half = encrypts ? "public" : "private";
        const own = use(key, name, what, name === "RSA-OAEP" ? half : "secret");
        const given = (name) => beside(algorithm[name] ?? new ArrayBuffer(0), name);
        source(data, "the data");
        switch (name) {
            case "AES-CBC": return native.cbc(encrypts, own, given("iv"), data);
            case "AES-CTR": return native.ctr(own, given("counter"), whole(algorithm.length), data);
            case "AES-GCM": return native.gcm(encrypts, own, given("iv"), given("additionalData"),
                whole(algorithm.tagLength) || 128, data);
            default: {
                const run = encrypts ? native.rsaEncrypt : native.rsaDecrypt;
                return run(own.der, key.algorithm.hash.name, given("label"), data);
            }
        }
    };
    /** How long the salt of a signature is; -1: as the digest. By PKCS #1 v1.5 there is none. */
    const saltOf = (algorithm, hash) => {
        if (algorithm.name !== "RSA-PSS") return undefined;
        const length = whole(needed(algorithm, "saltLength"));
        if (length === -1) return native.digest(hash, new ArrayBuffer(0)).byteLength;
        // Longer than any: it signs and verifies nothing.
        return length < 0 ? Infinity : length;
    };
    const sign = (algorithm, key, data) => {
        const { name } = algorithm;
        const own = use(key, name, "sign", name === "HMAC" ? "secret" : "private");
        source(data, "the data");
        if (name === "HMAC") return native.hmac(key.algorithm.hash.name, own, data);
        if (name === "ECDSA") {
            return native.ecSign(key.algorithm.namedCurve, hashOf(algorithm.hash), own.scalar, data);
        }
        const hash = key.algorithm.hash.name;
        return native.rsaSign(own.der, saltOf(algorithm, hash), hash, data);
    };
    const verify = (algorithm, key, signature, data) => {
        const { name } = algorithm;
        const own = use(key, name, "verify", name === "HMAC" ? "secret" : "public");
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
        return native.rsaVerify(own.der, saltOf(algorithm, hash), hash, signature, data);
    };
    const share = (own, key, other, length) => {
        const { point } = CryptoKey.data(other);
        const { name, namedCurve } = other.algorithm;
        if (other.type !== "public" || name !== "ECDH" || namedCurve !== key.algorithm.namedCurve) {
            throw fail("InvalidAccessError", "the other key is no public one of the same curve");
        }
        const secret = native.ecDerive(namedCurve, own.scalar, point);
        if (length === null || length === 0) return secret;
        if (length > secret.byteLength * 8) throw fail("OperationError", "the secret is not so long");
        return secret.slice(0, length / 8);
    };
    const derive = (algorithm, key, wanted, what) => {
        const { name } = of(["ECDH", ...DERIVED], algorithm, "derive");
        const own = use(key, name, what, name === "ECDH" ? "private" : "secret");
        const length = wanted === undefined || wanted === null ? null : whole(wanted);
        if (length < 0 || length % 8 !== 0) {
            throw fail("OperationError", "the length must be a multiple of eight bits");
        }
        if (name === "ECDH") return share(own, key, algorithm.public, length);
        if (!length) throw fail("OperationError", "the length can't be zero");
        const hash = hashOf(algorithm.hash);
        const salt = beside(algorithm.salt, "the salt");
        if (name === "HKDF") {
            return native.hkdf(hash, own, salt, beside(algorithm.info, "the info"), length / 8);
        }
        const { iterations } = algorithm;
        if (iterations === undefined || iterations === null) {
            throw new TypeError("PBKDF2 needs a number of iterations");
        }
        return native.pbkdf2(hash, own, salt, whole(iterations), length / 8);
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
        async encrypt(algorithm, key, data) {
            return change(true, of(CIPHERS, read(algorithm), "encrypt"), key, data);
        }
        async decrypt(algorithm, key, data) {
            return change(false, of(CIPHERS, read(algorithm), "decrypt"), key, data);
        }
        async sign(algorithm, key, data) {
            return sign(of(SIGNERS, read(algorithm), "sign"), key, data);
        }
        async verify(algorithm, key, signature, data) {
            return verify(of(SIGNERS, read(algorithm), "verify"), key, signature, data);
        }
        async deriveBits(algorithm, key, length) {
            return derive(read(algorithm), key, length, "deriveBits");
        }
        async deriveKey(algorithm, key, wanted, extractable, usages) {
            return deriveKey(read(algorithm), key, read(wanted), extractable, usages);
        }
        // As k6's, whose these are not either: they throw, there is no promise.
        wrapKey() { throw new Error("wrapKey is not implemented: export the key, and encrypt it"); }
        unwrapKey() { throw new Error("unwrapKey is not implemented: decrypt the key, and import it"); }
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
