/* Takes the place of modules whose functions the page never calls: see WITHOUT_UNUSED in vite.config.mjs. */

const nothing = () => null;

// zod/v4/core/json-schema-processors.js
export const toJSONSchema = nothing;

// zod/v4/core/to-json-schema.js
export const createStandardJSONSchemaMethod = nothing;
export const createToJSONSchemaMethod = nothing;

// zod/v4/core/doc.js: code that zod compiles, which the Content-Security-Policy of the page forbids.
export const Doc = nothing;

// zod/v4/locales/en.js: the schema of the document has its own messages.
export default () => ({ localeError: nothing });

// @lezer/highlight: the grammar of PromQL names its tags when it is loaded.
export const tags = { function: nothing };
export const styleTags = () => nothing;
