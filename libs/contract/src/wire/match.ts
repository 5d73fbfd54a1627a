import type { AnyRoute } from './route.ts';

const SEGMENT = /\{(\w+)(\*?)\}/g;

/** Returns whether a raw (encoded) path matches a template. A parameter is one segment; `{rest*}` is one or more. */
export function matchesPath(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.split('/')];
  const open = template.endsWith('*}');
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, index) => {
    if (!segment.startsWith('{')) return segment === given[index];
    return open && index === wanted.length - 1 ? given.slice(index).join('/') !== '' : given[index] !== '';
  });
}

/**
 * Returns the path with its parameters filled in and encoded.
 * @throws TypeError when a parameter is missing or empty.
 */
export function fillPath(template: string, params: Readonly<Record<string, unknown>> = {}): string {
  return template.replace(SEGMENT, (_all, name: string, rest: string) => {
    const value = params[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`path parameter ${name} is missing`);
    return rest ? String(value).split('/').map(encodeURIComponent).join('/') : encodeURIComponent(String(value));
  });
}

/** Returns the first declared route that matches a request, or undefined. The server uses the same order. */
export function matchRoute(routes: readonly AnyRoute[], method: string, pathname: string): AnyRoute | undefined {
  const wanted = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();
  return routes.find((route) => route.method === wanted && matchesPath(route.path, pathname));
}
