// Selections: lists of nodes, with the methods of jQuery that k6 has.
(function (own, native) {
    const { Element } = own;
    const VALUES = "input,select,textarea";
    const NOT_SENT = ["button", "checkbox", "file", "image", "radio", "reset", "submit"];
    const unique = (ids) => [...new Set(ids)];

    /** What `data-…` holds: JSON where it is some, else the text. */
    const datum = (text) => {
        if (text === undefined || text === "null") return undefined;
        if (text === "true" || text === "false") return text === "true";
        if (/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(text)) return Number(text);
        if (/^[[{]/.test(text)) {
            try { return JSON.parse(text); } catch { return text; }
        }
        return text;
    };
    const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
    const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

    const wrong = (method, meant) => {
        throw new Error(`the argument to ${method}() must be ${meant}`);
    };
    /** What may only be a selector, or a selection, which others look for first. */
    const selector = (what) => {
        if (typeof what === "string") return what;
        throw new Error(`invalid argument, cannot use a '${native.type(what)}' as a selector`);
    };

    class Selection {
        #page; #ids; #before;
        constructor(page, ids, before, url) {
            this.#page = page; this.#ids = ids; this.#before = before; this.url = url;
        }
        #with(ids) { return new Selection(this.#page, unique(ids), this, this.url); }
        #element(id) { return new Element(this.#page, id, this.url); }
        #one(id) { return new Selection(this.#page, [id], this, this.url); }
        #up(id) {
            const parent = this.#page.parent(id);
            return parent !== null && parent !== undefined && this.#page.type(parent) === 1
                ? parent : undefined;
        }
        #ancestors(id) {
            const all = [];
            for (let at = this.#up(id); at !== undefined; at = this.#up(at)) all.push(at);
            return all;
        }
        #siblings(id) { return this.#page.elements(this.#page.parent(id) ?? 0); }
        #after(id) { const all = this.#siblings(id); return all.slice(all.indexOf(id) + 1); }
        #ahead(id) { const all = this.#siblings(id); return all.slice(0, all.indexOf(id)).reverse(); }

        /** Those of `ids` that a selector fits. One that is none fits nothing. */
        #matching(ids, selector) {
            try { return this.#page.fits(ids, String(selector)); } catch { return []; }
        }
        /** The same where a selector may be left out, `given` being what was not: that fits all. */
        #optional(ids, given) { return given.length === 0 ? ids : this.#matching(ids, given[0]); }
        /** Those of `ids` that `what` means: a selector, a selection or an element. */
        #meant(ids, what) {
            if (what instanceof Selection) return ids.filter((id) => what.#ids.includes(id));
            if (Element.is(what)) return ids.filter((id) => id === Element.id(what));
            return this.#matching(ids, selector(what));
        }
        /** The same of `filter` and `is`, which take functions as well. */
        #fitting(ids, what, method) {
            if (typeof what === "function") return ids.filter((id, at) => what(at, this.#one(id)));
            const isOne = typeof what === "string" || what instanceof Selection || Element.is(what);
            if (!isOne) wrong(method, "a function, a selector or a selection");
            return this.#meant(ids, what);
        }
        #below(ids, what) {
            if (what instanceof Selection || Element.is(what)) {
                const within = (id) => [id, ...this.#ancestors(id)].slice(1).some((up) => ids.includes(up));
                const meant = Element.is(what) ? [Element.id(what)] : what.#ids;
                return meant.filter((id) => within(id) || ids.includes(0));
            }
            const text = selector(what);
            try { return unique(ids.flatMap((id) => this.#page.find(id, text))); } catch { return []; }
        }
        #walk(step, given = []) {
            return this.#with(this.#optional(unique(this.#ids.flatMap(step)), given));
        }
        #until(step, until, given) {
            const isOpen = until === undefined || until === null;
            const some = (id) => {
                const all = step(id);
                const stop = isOpen ? [] : this.#meant(all, until);
                const at = all.findIndex((known) => stop.includes(known));
                return at < 0 ? all : all.slice(0, at);
            };
            return this.#walk(some, given);
        }

        // Finding
        find(what) { return this.#with(this.#below(this.#ids, what)); }
        add(what) {
            const more = what instanceof Selection ? what.#ids
                : Element.is(what) ? [Element.id(what)] : this.#below([0], what);
            return this.#with([...this.#ids, ...more]);
        }
        filter(what) { return this.#with(this.#fitting(this.#ids, what, "filter")); }
        not(what) {
            const left = typeof what === "function" ? this.#fitting(this.#ids, what, "not")
                : this.#meant(this.#ids, what);
            return this.#with(this.#ids.filter((id) => !left.includes(id)));
        }
        has(what) { return this.#with(this.#ids.filter((id) => this.#below([id], what).length > 0)); }
        is(what) { return this.#fitting(this.#ids, what, "is").length > 0; }
        children(...given) { return this.#walk((id) => this.#page.elements(id), given); }
        contents() { return this.#walk((id) => this.#page.children(id)); }
        parent(...given) { return this.#walk((id) => this.#up(id) ?? [], given); }
        parents(...given) { return this.#walk((id) => this.#ancestors(id), given); }
        parentsUntil(until, ...given) { return this.#until((id) => this.#ancestors(id), until, given); }
        closest(what) {
            return this.#walk((id) => this.#meant([id, ...this.#ancestors(id)], what).slice(0, 1));
        }
        next(...given) { return this.#walk((id) => this.#after(id).slice(0, 1), given); }
        nextAll(...given) { return this.#walk((id) => this.#after(id), given); }
        nextUntil(until, ...given) { return this.#until((id) => this.#after(id), until, given); }
        prev(...given) { return this.#walk((id) => this.#ahead(id).slice(0, 1), given); }
        prevAll(...given) { return this.#walk((id) => this.#ahead(id), given); }
        prevUntil(until, ...given) { return this.#until((id) => this.#ahead(id), until, given); }
        siblings(...given) {
            return this.#walk((id) => this.#siblings(id).filter((other) => other !== id), given);
        }
        end() { return this.#before ?? new Selection(this.#page, [], null, this.url); }

        // Picking
        size() { return this.#ids.length; }
        eq(at) { const id = this.#ids.at(at); return this.#with(id === undefined ? [] : [id]); }
        first() { return this.eq(0); }
        last() { return this.eq(-1); }
        single(what) { return this.find(what).first(); }
        /** An end that is given and undefined is 0. */
        slice(from, ...to) {
            const end = to.length === 0 ? undefined : to[0] ?? 0;
            return this.#with(this.#ids.slice(from, end));
        }
        get(...given) {
            if (given.length === 0) return this.#ids.map((id) => this.#element(id));
            const id = this.#ids.at(given[0]);
            return id === undefined ? undefined : this.#element(id);
        }
        toArray() { return this.#ids.map((id) => this.#one(id)); }
        index(...given) {
            const [what] = given;
            if (given.length === 0) {
                return this.#ids.length === 0 ? -1 : this.#siblings(this.#ids[0]).indexOf(this.#ids[0]);
            }
            if (what instanceof Selection) return this.#ids.indexOf(what.#ids[0]);
            if (Element.is(what)) return this.#ids.indexOf(Element.id(what));
            return typeof what === "string" ? this.#below([0], what).indexOf(this.#ids[0]) : -1;
        }
        each(call) {
            if (typeof call !== "function") wrong("each", "a function");
            this.#ids.forEach((id, at) => call(at, this.#element(id)));
            return this;
        }
        map(call) {
            if (typeof call !== "function") wrong("map", "a function");
            const made = this.#ids.map((id, at) => call(at, this.#one(id)));
            return made.filter((value) => value !== undefined && value !== null);
        }

        // What they hold
        text() { return this.#ids.map((id) => this.#page.text(id)).join(""); }
        html(other) {
            return this.#ids.length === 0 ? other ?? "" : this.#page.inner(this.#ids[0]);
        }
        attr(name, other) {
            return this.#ids.length === 0 ? other : this.#page.attribute(this.#ids[0], name) ?? other;
        }
        data(...given) {
            if (this.#ids.length === 0) return undefined;
            const id = this.#ids[0];
            if (given.length > 0) {
                return datum(this.#page.attribute(id, `data-${dashed(String(given[0] ?? ""))}`));
            }
            const all = {};
            for (const [name, text] of this.#page.attributes(id)) {
                const value = name.startsWith("data-") ? datum(text) : undefined;
                if (value !== undefined) all[camel(name.slice(5))] = value;
            }
            return Object.keys(all).length === 0 ? undefined : all;
        }
        val() {
            const element = this.get(0);
            if (element === undefined) return undefined;
            switch (element.nodeName()) {
                case "select":
                    return element.multiple() ? element.selectedOptions().map((it) => it.value())
                        : element.selectedOptions()[0]?.value();
                case "input": case "option": case "textarea": return element.value();
                case "button": return element.getAttribute("value");
                default: return undefined;
            }
        }

        // Forms
        serializeArray() {
            const pairs = [];
            const within = (id) => this.#page.type(id) === 1
                && ["form", "fieldset"].includes(this.#page.name(id));
            const ids = this.#ids.flatMap((id) => (within(id) ? this.#below([id], VALUES) : [id]));
            for (const id of this.#matching(unique(ids), VALUES)) {
                const element = this.#element(id);
                const name = element.name();
                if (name === "" || NOT_SENT.includes(element.type())) continue;
                const value = this.#one(id).val();
                if (value !== undefined) pairs.push({ name, value });
            }
            return pairs;
        }
        serializeObject() {
            const object = {};
            for (const { name, value } of this.serializeArray()) object[name] = value;
            return object;
        }
        serialize() { return own.encode(this.serializeObject()); }
    }
    own.Selection = Selection;
    own.select = (page, ids, before, url) => new Selection(page, ids, before, url);
    own.page = (page, url) => new Selection(page, [0], null, url);
})
