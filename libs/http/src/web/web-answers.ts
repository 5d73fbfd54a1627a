import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { acceptedEncodings } from './encodings.ts';
import { matchesEtag } from './etag.ts';
import { openAsset, readPage } from './web-files.ts';

/** Scripts and styles of this origin as files; nothing inline, nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Built files carry a hash of their content in their name. */
const FOR_EVER = 'public, max-age=31536000, immutable';

type Headers = Readonly<Record<string, string>>;
type WebPageAnswer = { status: 200; headers: Headers; body: string } | { status: 304; headers: Headers };
type AssetAnswer =
  | { status: 200; headers: Headers; stream: (response: ServerResponse) => Promise<void> }
  | { status: 404 };

/**
 * Returns the built page of a folder under a strict content policy, 304 for its ETag, and null where it is not built.
 * @param webDir folder with `index.html` and `assets/`. It need not exist.
 */
export async function webPage(webDir: string, request: IncomingMessage): Promise<WebPageAnswer | null> {
  const page = await readPage(webDir);
  if (page === null) return null;
  const headers = { 'content-security-policy': PAGE_POLICY, 'cache-control': 'no-cache', etag: page.etag };
  return matchesEtag(request, page.etag) ? { status: 304, headers } : { status: 200, headers, body: page.html };
}

/** Returns a file below `assets/` of a built folder, compressed when the caller accepts it; 404 for every other path. */
export async function webAsset(webDir: string, path: string, request: IncomingMessage): Promise<AssetAnswer> {
  const file = await openAsset(webDir, path, acceptedEncodings(request));
  if (file === null) return { status: 404 };
  const headers = {
    'content-type': file.type,
    'content-length': String(file.size),
    'cache-control': FOR_EVER,
    vary: 'accept-encoding',
    ...(file.encoding !== null && { 'content-encoding': file.encoding }),
  };
  return { status: 200, headers, stream: (response) => pipeline(file.read(), response) };
}
