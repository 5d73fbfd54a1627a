export type Json = Readonly<Record<string, unknown>>;

/** The document cannot be read, or is no OpenAPI 3.1 document. */
export class DocumentError extends Error {}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a key, or an empty one. */
export const objectAt = (node: Json, key: string): Json => {
  const value = Object.hasOwn(node, key) ? node[key] : undefined;
  return isObject(value) ? value : {};
};

export const listAt = (node: Json, key: string): readonly unknown[] => {
  const value = node[key];
  return Array.isArray(value) ? value : [];
};

/** The schema of everything. */
export const ANY: Json = {};

/** An operation with the path item that it belongs to. */
export interface Operation {
  readonly item: Json;
  readonly node: Json;
}

/** One alternative of a schema: at most one type, no reference, no `oneOf`, `anyOf`, `allOf` or `const`. */
export interface Alternative {
  /** Undefined if every type is valid. */
  readonly type?: string;
  readonly keywords: Json;
}

const TEXTS = ['title', 'description', 'summary', 'example', 'examples', 'externalDocs', 'tags', '$comment', 'xml'];

/** Keywords without an effect on requests and answers. */
export const isText = (key: string): boolean => TEXTS.includes(key) || key.startsWith('x-');

const MAX_HOPS = 100;
const MAX_DEPTH = 200;

/** An OpenAPI 3.1 document and its local references. */
export class OpenApiDocument {
  readonly root: Json;

  constructor(root: Json) {
    this.root = root;
  }

  /** @throws DocumentError when the text is no OpenAPI 3.1 document in JSON. */
  static parse(text: string): OpenApiDocument {
    let root: unknown;
    try {
      root = JSON.parse(text);
    } catch {
      throw new DocumentError('is not JSON');
    }
    if (!isObject(root) || !/^3\.1\.\d+$/.test(String(root.openapi)))
      throw new DocumentError('is not an OpenAPI 3.1 document');
    if (isDeeper(root, MAX_DEPTH)) throw new DocumentError(`is nested deeper than ${MAX_DEPTH} levels`);
    return new OpenApiDocument(root);
  }

  /** Follows `$ref` of a parameter, body, response, header or path item. Siblings override what it refers to. */
  resolve(value: unknown): Json {
    let node = isObject(value) ? value : {};
    for (let hops = 0; typeof node.$ref === 'string'; hops++) {
      if (hops === MAX_HOPS) throw new DocumentError(`has a circular reference ${node.$ref}`);
      const { $ref, ...siblings } = node;
      const target = this.target($ref);
      if (!isObject(target)) throw new DocumentError(`has a reference to something else than an object: ${$ref}`);
      node = { ...target, ...siblings };
    }
    return node;
  }

  /** @throws DocumentError when the reference leaves the document or names nothing. */
  target(ref: string): unknown {
    if (ref !== '#' && !ref.startsWith('#/')) throw new DocumentError(`has a reference out of the document: ${ref}`);
    let node: unknown = this.root;
    for (const part of ref.split('/').slice(1)) {
      const key = keyOf(part, ref);
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key))
        throw new DocumentError(`has a reference to nothing: ${ref}`);
      node = (node as Json)[key];
    }
    return node;
  }
}

/** Decodes one step of a JSON pointer in a URI fragment (RFC 6901, section 6). */
function keyOf(part: string, ref: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new DocumentError(`has a malformed reference: ${ref}`);
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));
