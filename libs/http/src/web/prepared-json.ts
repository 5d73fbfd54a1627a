import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedEncodings, type Encoding } from './encodings.ts';
import { etagOf, matchesEtag } from './etag.ts';

/** Smaller bodies fit into one packet, and compressing them saves nothing. */
const COMPRESSED_FROM_BYTES = 1_024;

/** Middle levels: higher ones take several times as long for a few percent. */
const COMPRESS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => promisify(gzip)(body, { level: 6 }),
};

type Headers = Readonly<Record<string, string>>;
type PreparedAnswer =
  | { status: 304; headers: Headers }
  | { status: 200; headers: Headers; json: string; bytes: Buffer };

/** A JSON text for many responses. Its bytes, and each compressed form that a caller accepts, are made once. */
export class PreparedJson {
  readonly #text: string;
  readonly #body: Buffer;
  readonly #etag: string;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  /** @param version what decides whether a copy of the caller is current; the ETag is weak, because the text may say more. */
  constructor(text: string, version: string) {
    this.#text = text;
    this.#body = Buffer.from(text);
    this.#etag = `W/${etagOf(version)}`;
  }

  /** Returns 304 for a caller that has this version, otherwise the smallest form that the caller accepts. */
  async answer(request: IncomingMessage): Promise<PreparedAnswer> {
    const headers = { etag: this.#etag, 'cache-control': 'private, no-cache', vary: 'accept-encoding' };
    if (matchesEtag(request, this.#etag)) return { status: 304, headers };
    const encoding = this.#body.length < COMPRESSED_FROM_BYTES ? undefined : acceptedEncodings(request)[0];
    if (encoding === undefined) return { status: 200, headers, json: this.#text, bytes: this.#body };
    const bytes = await this.#in(encoding);
    return { status: 200, headers: { ...headers, 'content-encoding': encoding }, json: this.#text, bytes };
  }

  /** Callers that arrive while it is compressed wait for the same work. */
  #in(encoding: Encoding): Promise<Buffer> {
    const known = this.#compressed.get(encoding);
    if (known) return known;
    const compressed = COMPRESS[encoding](this.#body);
    this.#compressed.set(encoding, compressed);
    return compressed;
  }
}
