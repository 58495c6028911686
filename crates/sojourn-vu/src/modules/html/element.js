// Elements as scripts see them: the getters of the DOM, as methods. What an element of its kind does
// not have is empty.
(function (own, native) {
    const ELEMENT = 1, TEXT = 3;
    const CONTROLS = "button,fieldset,input,object,output,select,textarea";
    const LABELLED = "label";

    class Element {
        #page; #id; #url;
        constructor(page, id, url) { this.#page = page; this.#id = id; this.#url = url; }
        static page(element) { return element.#page; }
        static id(element) { return element.#id; }
        static is(value) { return value !== null && typeof value === "object" && #id in value; }

        #of(id) {
            return id === undefined || id === null ? undefined : new Element(this.#page, id, this.#url);
        }
        #all(ids) { return ids.map((id) => this.#of(id)); }
        #up() { return this.#page.parent(this.#id); }
        #attr(name) { return this.#page.attribute(this.#id, name); }
        #text(name) { return this.#attr(name) ?? ""; }
        #has(name) { return this.#attr(name) !== undefined; }
        #number(name, other) {
            const number = Number.parseInt(this.#attr(name), 10);
            return Number.isNaN(number) ? other : number;
        }
        #find(what) { return this.#page.find(this.#id, what); }
        #is(...names) { return names.includes(this.nodeName()); }
        #list(name) { return this.#text(name).split(/[ \t\n\f\r]+/).filter((word) => word !== ""); }
        #beside(by, list) {
            const parent = this.#up();
            if (parent === null || parent === undefined) return undefined;
            const all = this.#page[list](parent);
            let at = this.#page.children(parent).indexOf(this.#id);
            if (list === "elements") at = all.indexOf(this.#id);
            return this.#of(all[at + by]);
        }
        #closest(name) {
            for (let id = this.#up(); id !== null && id !== undefined; id = this.#page.parent(id)) {
                if (this.#page.name(id) === name) return this.#of(id);
            }
            return undefined;
        }
        #link() { return this.#text("href"); }
        #address() { return native.address(this.#link(), "http://nowhere.invalid/") ?? {}; }
        #whole() { return native.address(this.#link(), ""); }

        // Nodes
        nodeName() { return this.#page.name(this.#id); }
        nodeType() { return this.#page.type(this.#id); }
        nodeValue() { return this.#page.value(this.#id) ?? null; }
        textContent() { return this.#page.text(this.#id); }
        innerHTML() { return this.#page.inner(this.#id); }
        toString() {
            return this.#has("href") ? this.href() : this.#page.outer(this.#id);
        }
        parentNode() { return this.#of(this.#up()); }
        parentElement() {
            const parent = this.#up();
            return this.#page.type(parent ?? 0) === ELEMENT ? this.#of(parent) : undefined;
        }
        ownerDocument() { return this.#of(0); }
        childNodes() { return this.#all(this.#page.children(this.#id)); }
        children() { return this.#all(this.#page.elements(this.#id)); }
        childElementCount() { return this.#page.elements(this.#id).length; }
        hasChildNodes() { return this.#page.children(this.#id).length > 0; }
        firstChild() { return this.#of(this.#page.children(this.#id)[0]); }
        lastChild() { return this.#of(this.#page.children(this.#id).at(-1)); }
        firstElementChild() { return this.#of(this.#page.elements(this.#id)[0]); }
        lastElementChild() { return this.#of(this.#page.elements(this.#id).at(-1)); }
        nextSibling() { return this.#beside(1, "children"); }
        previousSibling() { return this.#beside(-1, "children"); }
        nextElementSibling() { return this.#beside(1, "elements"); }
        previousElementSibling() { return this.#beside(-1, "elements"); }
        contains(other) {
            if (!Element.is(other) || other.#page !== this.#page) return false;
            for (let id = other.#id; id !== null && id !== undefined; id = this.#page.parent(id)) {
                if (id === this.#id) return true;
            }
            return false;
        }
        isSameNode(other) {
            return Element.is(other) && other.#page === this.#page && other.#id === this.#id;
        }
        isEqualNode(other) {
            return Element.is(other) && other.#page.outer(other.#id) === this.#page.outer(this.#id);
        }
        namespaceURI() { return this.#page.namespace(this.#id) ?? ""; }
        isDefaultNamespace() { return true; }
        selection() { return own.select(this.#page, [this.#id], null, this.#url); }

        // Finding
        matches(what) { return this.#page.fits([this.#id], what).length > 0; }
        querySelector(what) { return this.#of(this.#find(what)[0]) ?? null; }
        querySelectorAll(what) { return this.#all(this.#find(what)); }
        getElementsByClassName(names) {
            const words = names.split(/\s+/).filter((word) => word !== "");
            return this.#all(this.#find(words.map((word) => `.${word}`).join("")));
        }
        getElementsByTagName(name) { return this.#all(this.#find(name)); }

        // Attributes
        attributes() {
            const all = {};
            for (const [name] of this.#page.attributes(this.#id)) all[name] = this.getAttributeNode(name);
            return all;
        }
        getAttribute(name) { return this.#attr(name); }
        getAttributeNode(name) {
            const value = this.#attr(name);
            return value === undefined ? undefined : { owner_element: this, name, value };
        }
        hasAttribute(name) { return this.#has(name); }
        hasAttributes() { return this.#page.attributes(this.#id).length > 0; }
        id() { return this.#text("id"); }
        className() { return this.#attr("class") ?? null; }
        classList() { return this.#list("class"); }
        lang() { return this.#attr("lang") ?? null; }
        relList() { return this.#list("rel"); }

        // Links
        href() { return this.#url && this.#is("a", "area")
            ? native.address(this.#link(), this.#url)?.href ?? this.#link() : this.#link(); }
        hash() { return this.#address().hash; }
        pathname() { return this.#address().pathname; }
        search() { return this.#address().search; }
        host() { return this.#whole()?.host ?? ""; }
        hostname() { return this.#whole()?.hostname ?? ""; }
        port() { return this.#whole()?.port ?? ""; }
        origin() { return this.#whole()?.origin ?? ""; }
        username() { return this.#whole()?.username ?? ""; }
        password() { return this.#whole()?.password ?? ""; }
        protocol() { return this.#whole()?.protocol.slice(0, -1) ?? ":"; }

        // Forms and what is in them
        form() {
            const named = this.#attr("form");
            const found = named === undefined ? [] : this.#page.find(0, `form[id="${named}"]`);
            return this.#of(found[0]) ?? this.#closest("form");
        }
        elements() { return this.#all(this.#find(CONTROLS)); }
        length() {
            return this.#is("select") ? this.options().length
                : this.#is("form") ? this.elements().length : this.textContent().length;
        }
        labels() {
            const id = this.#attr("id");
            const named = id === undefined ? [] : this.#page.find(0, `${LABELLED}[for="${id}"]`);
            const around = this.#closest(LABELLED);
            return this.#all(named).concat(around === undefined ? [] : [around]);
        }
        control() { return this.#of(this.#has("for")
            ? this.#page.find(0, `[id="${this.#text("for")}"]`)[0] : this.#find(CONTROLS)[0]); }
        options() { return this.#all(this.#find("option")); }
        selectedOptions() {
            const marked = this.options().filter((option) => option.selected());
            return marked.length > 0 || this.multiple() ? marked : this.options().slice(0, 1);
        }
        selectedIndex() { return this.options().findIndex((option) => option.selected()); }
        index() { return this.#page.elements(this.#up() ?? 0).indexOf(this.#id); }
        selected() { return this.#has("selected"); }
        defaultSelected() { return this.#has("selected"); }
        label() { return this.#attr("label") ?? this.textContent(); }
        text() { return this.textContent(); }
        value() {
            if (this.#is("select")) return this.selectedOptions()[0]?.value() ?? "";
            if (this.#is("textarea", "output")) return this.textContent();
            if (this.#is("option")) return this.#attr("value") ?? this.textContent();
            const isChoice = this.#is("input") && ["checkbox", "radio"].includes(this.type());
            const other = isChoice ? "on" : "";
            if (this.#is("li", "progress", "meter")) return this.#number("value", 0);
            return this.#attr("value") ?? other;
        }
        defaultValue() { return this.value(); }
        type() {
            const own = this.#attr("type");
            if (this.#is("input")) return own ?? "text";
            if (this.#is("button")) return own ?? "submit";
            if (this.#is("select")) return this.multiple() ? "select-multiple" : "select";
            return own ?? (this.#is("textarea", "fieldset", "output") ? this.nodeName() : "");
        }
        checked() { return this.#has("checked"); }
        defaultChecked() { return this.#has("checked"); }
        method() { return this.#text("method").toLowerCase() === "post" ? "post" : "get"; }
        enctype() { return this.#attr("enctype") ?? "application/x-www-form-urlencoded"; }
        autocomplete() { return this.#attr("autocomplete") ?? (this.#is("form") ? "on" : ""); }
        size() { return this.#number("size", this.#is("select") ? (this.multiple() ? 4 : 1) : 0); }
        src() { return this.#text("src"); }
        currentSrc() { return this.#text("src"); }
        width() { return this.#is("input") ? this.#text("width") : this.#number("width", 0); }
        height() { return this.#is("input") ? this.#text("height") : this.#number("height", 0); }
        tHead() { return this.#of(this.#find("thead")[0]); }
        tFoot() { return this.#of(this.#find("tfoot")[0]); }
        caption() { return this.#of(this.#find("caption")[0]); }
        tBodies() { return this.#all(this.#find("tbody")); }
        rows() { return this.#all(this.#find("tr")); }
        cells() { return this.#all(this.#find("td,th")); }
        rowIndex() { return this.#closest("table")?.rows().findIndex((row) => row.isSameNode(this)) ?? -1; }
        cellIndex() { return this.index(); }
        areas() { return this.#all(this.#find("area")); }
        list() { return this.#of(this.#page.find(0, `datalist[id="${this.#text("list")}"]`)[0]); }

        // Attributes by other names: texts, flags, numbers.
        static {
            const texts = {
                accept: "accept", acceptCharset: "accept-charset", accessKey: "accesskey",
                action: "action", alt: "alt", charset: "charset", cite: "cite", content: "content",
                coords: "coords", data: "data", dateTime: "datetime", dirName: "dirname",
                download: "download", formAction: "formaction", formEnctype: "formenctype",
                formMethod: "formmethod", formTarget: "formtarget", headers: "headers",
                hrefLang: "hreflang", hreflang: "hreflang", htmlFor: "for",
                httpEquiv: "http-equiv", kind: "kind", max: "max", media: "media", min: "min",
                name: "name", pattern: "pattern",
                placeholder: "placeholder", poster: "poster", preload: "preload",
                referrerPolicy: "referrerpolicy", rel: "rel", scope: "scope", shape: "shape",
                sizes: "sizes", srclang: "srclang", srcset: "srcset", step: "step",
                target: "target", title: "title", typemustmatch: "typemustmatch",
                useMap: "usemap", wrap: "wrap",
            };
            const flags = {
                async: "async", autofocus: "autofocus", autoplay: "autoplay", controls: "controls",
                default: "default", defaultMuted: "muted", defer: "defer", disabled: "disabled",
                formNoValidate: "formnovalidate", isMap: "ismap", loop: "loop",
                multiple: "multiple", muted: "muted", noModule: "nomodule",
                noValidate: "novalidate", open: "open", readonly: "readonly", readOnly: "readonly",
                required: "required", reversed: "reversed",
            };
            const numbers = {
                cols: 20, colSpan: 1, maxLength: -1, minLength: -1, rowSpan: 1, span: 1, start: 1,
                tabIndex: 0,
            };
            const add = (name, value) => Object.defineProperty(
                this.prototype, name, { value, writable: true, configurable: true });
            for (const [name, from] of Object.entries(texts)) {
                add(name, function () { return this.#text(from); });
            }
            for (const [name, from] of Object.entries(flags)) {
                add(name, function () { return this.#has(from); });
            }
            for (const [name, other] of Object.entries(numbers)) {
                add(name, function () { return this.#number(name.toLowerCase(), other); });
            }
            add("crossOrigin", function () { return this.#attr("crossorigin"); });
        }
    }
    own.Element = Element;
    own.TEXT = TEXT;
})
