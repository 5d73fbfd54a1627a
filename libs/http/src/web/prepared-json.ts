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

interface EncodedBody {
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
}

type Headers = Readonly<Record<string, string>>;
type PreparedAnswer =
  | { status: 304; headers: Headers }
  | { status: 200; headers: Headers; json: string; bytes: Buffer };

/** A JSON text for many responses, with an ETag. */
export class PreparedJson {
  readonly #body: PreparedBody;
  readonly #etag: string;

  /** @param version what decides whether a copy of the caller is current; the ETag is weak, because the text may say more. */
  constructor(text: string, version: string) {
    this.#body = new PreparedBody(text);
    this.#etag = `W/${etagOf(version)}`;
  }

  /** Returns 304 for a caller that has this version, otherwise the smallest form that the caller accepts. */
  async answer(request: IncomingMessage): Promise<PreparedAnswer> {
    const cached = { etag: this.#etag, 'cache-control': 'private, no-cache' };
    if (matchesEtag(request, this.#etag)) return { status: 304, headers: { ...cached, vary: 'accept-encoding' } };
    const { headers, bytes } = await this.#body.encodedFor(request);
    return { status: 200, headers: { ...cached, ...headers }, json: this.#body.text, bytes };
  }
}

/** A text for many responses. Its bytes, and each compressed form that a caller accepts, are made once. */
export class PreparedBody {
  readonly text: string;
  readonly #bytes: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  constructor(text: string) {
    this.text = text;
    this.#bytes = Buffer.from(text);
  }

  /** Returns the smallest form that the caller accepts, and the headers that describe it. */
  async encodedFor(request: IncomingMessage): Promise<EncodedBody> {
    const vary = { vary: 'accept-encoding' };
    const encoding = this.#bytes.length < COMPRESSED_FROM_BYTES ? undefined : acceptedEncodings(request)[0];
    if (encoding === undefined) return { headers: vary, bytes: this.#bytes };
    return { headers: { ...vary, 'content-encoding': encoding }, bytes: await this.#in(encoding) };
  }

  /** Callers that arrive while it is compressed wait for the same work. */
  #in(encoding: Encoding): Promise<Buffer> {
    const known = this.#compressed.get(encoding);
    if (known) return known;
    const compressed = COMPRESS[encoding](this.#bytes);
    this.#compressed.set(encoding, compressed);
    return compressed;
  }
}
