// What a reader of a page does with it: sends its form, follows a link.
(function (own, native) {
    /** A form's values, by name in order, as a query. */
    own.encode = (object) => native.encode(Object.keys(object).sort().flatMap((name) =>
        [object[name]].flat().map((value) => [name, String(value)])));

    own.clickLink = (http, response, { selector = "a[href]", params } = {}) => {
        const link = response.html().find(selector).first();
        if (link.size() === 0) {
            throw new Error(`no element found for selector '${selector}' in response '${response.url}'`);
        }
        const href = link.attr("href");
        if (href === undefined) {
            throw new Error(`no valid href attribute value found on element '${selector}' in response '${response.url}'`);
        }
        const url = native.address(href, response.url);
        if (url === null) throw new Error(`the link '${href}' leads nowhere`);
        return http.get(url.href, params);
    };

    own.submitForm = (http, response, asked = {}) => {
        const { formSelector = "form", submitSelector = '[type="submit"]', fields = {}, params } = asked;
        const form = response.html().find(formSelector).first();
        if (form.size() === 0) {
            throw new Error(`no form found for selector '${formSelector}' in response '${response.url}'`);
        }
        const method = (form.attr("method") ?? "get").toUpperCase();
        const url = native.address(form.attr("action") ?? "", response.url);
        if (url === null) throw new Error(`the form's action '${form.attr("action")}' leads nowhere`);
        const values = form.serializeObject();
        const button = form.find(submitSelector).first();
        const name = button.attr("name");
        if (name !== undefined && name !== "") values[name] = button.val() ?? "";
        Object.assign(values, fields);
        if (method === "GET") {
            const query = own.encode(values);
            const address = native.address(query === "" ? "?" : `?${query}`, url.href);
            return http.request("GET", address.href, null, params);
        }
        return http.request(method, url.href, values, params);
    };
})
