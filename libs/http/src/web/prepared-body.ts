import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedEncodings, type Encoding } from './encodings.ts';

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
