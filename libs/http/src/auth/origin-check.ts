import { isIP } from 'node:net';
import { AppError } from '@pipeline/domain';
import type { Request } from 'express';

type Check = (request: Request) => void;

/**
 * Rejects requests that a browser sends from a page of another origin, including the same site. Browsers indicate this with
 * Sec-Fetch-Site, older ones with Origin only; programs send neither.
 * @param ownOrigins origins of the service, in addition to the host of each request.
 * @returns a check that throws AppError ORIGIN_NOT_ALLOWED.
 */
export function originCheck(ownOrigins: readonly string[] = []): Check {
  const own = new Set(ownOrigins);
  return (request) => {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (site === 'same-origin' || site === 'none' || (origin !== undefined && own.has(origin))) return;
    if (site === undefined && (origin === undefined || isOriginOf(origin, request.host))) return;
    throw new AppError('ORIGIN_NOT_ALLOWED', '');
  };
}

/** `host` is the Host header, or the host forwarded by a trusted proxy. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin);
  return url !== null && host !== undefined && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

/**
 * Rejects requests with an unknown host name. This protects against DNS rebinding, where the host name of a foreign page
 * resolves to this service and browsers treat it as the same origin. IP addresses cannot be rebound and are allowed.
 * @param names host names without port; undefined = no check.
 * @returns a check that throws AppError HOST_NOT_ALLOWED.
 */
export function hostCheck(names: readonly string[] | undefined): Check {
  if (names === undefined) return () => undefined;
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const isAllowed = (host: string | undefined): boolean => {
    // Browsers always send the header; a request without it is an HTTP/1.0 program.
    if (host === undefined) return true;
    const name = URL.parse(`http://${host}`)?.hostname ?? '';
    const isLoopback = name === 'localhost' || name.endsWith('.localhost');
    return isLoopback || isIP(name.replace(/^\[(.*)\]$/, '$1')) > 0 || allowed.has(name);
  };
  return (request) => {
    if (!isAllowed(request.headers.host) || !isAllowed(request.host)) throw new AppError('HOST_NOT_ALLOWED', '');
  };
}
