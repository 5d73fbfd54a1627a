import type { IncomingMessage } from 'node:http';
import { etagOf, matchesEtag } from './etag.ts';
import { PreparedBody } from './prepared-body.ts';

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
