import { isIP } from 'node:net';
import { AppError } from '@pipeline/domain';
import type { Request } from 'express';

type Check = (request: Request) => void;

/**
 * Refuses requests that a browser sends for a page of another origin; same-site pages are other origins, too. Browsers say so by
 * Sec-Fetch-Site, older ones by Origin alone; programs send neither.
 * @param ownOrigins origins under which the service is reached, beside the one that each request names as its host.
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

/** `host` is the Host header, or what a trusted proxy forwarded of it. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin);
  return url !== null && host !== undefined && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

/**
 * Refuses requests under a name that is not the service's own: a page that lets its own name lead to this address (DNS
 * rebinding) has such a name, and to browsers it is of the same origin. An address cannot be rebound, so addresses pass.
 * @param names host names without port; undefined = no check.
 * @returns a check that throws AppError HOST_NOT_ALLOWED.
 */
export function hostCheck(names: readonly string[] | undefined): Check {
  if (names === undefined) return () => undefined;
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const isAllowed = (host: string | undefined): boolean => {
    // Browsers always send it; without one it is a program of HTTP/1.0.
    if (host === undefined) return true;
    const name = URL.parse(`http://${host}`)?.hostname ?? '';
    const isLoopback = name === 'localhost' || name.endsWith('.localhost');
    return isLoopback || isIP(name.replace(/^\[(.*)\]$/, '$1')) > 0 || allowed.has(name);
  };
  return (request) => {
    if (!isAllowed(request.headers.host) || !isAllowed(request.host)) throw new AppError('HOST_NOT_ALLOWED', '');
  };
}
