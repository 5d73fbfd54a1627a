import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { sanitizeUrlText } from '@pipeline/http';
import type { PublicAddress } from '../auth/public-address.ts';

interface Rewritten {
  /** The caller's address, as far as proxies let it be known. */
  client: string;
  /** Path and query; default as they came. */
  url?: string;
  /** The whole body, as it is to be read. */
  body?: string;
}

/**
 * The request as the OAuth library is to see it. Host and scheme are ours, whatever was sent: it makes addresses from
 * them, and a forged Host header would lead browsers elsewhere. The store can hold every character of the URL. The body
 * has been read already, so that no client sends it slowly while a transaction is open.
 */
export function libraryRequest(request: IncomingMessage, address: PublicAddress, more: Rewritten): IncomingMessage {
  const { origin, secure } = address;
  const {
    'x-forwarded-host': _host,
    'transfer-encoding': _encoding,
    'content-length': _length,
    ...sent
  } = request.headers;
  const { body = '' } = more;
  const url = sanitizeUrlText(more.url ?? request.url ?? '');
  const bytes = Buffer.from(body);
  const headers = {
    ...sent,
    host: new URL(origin).host,
    'x-forwarded-proto': secure ? 'https' : 'http',
    'x-forwarded-for': more.client,
    ...(bytes.length > 0 && { 'content-length': String(bytes.length) }),
  };
  const { method, socket, httpVersion, httpVersionMajor, httpVersionMinor } = request;
  const stream = Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false });
  const facts = { method, url, originalUrl: url, headers, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(stream, facts) as unknown as IncomingMessage;
}
