import type { AnyRoute } from './route.ts';

const SEGMENT = /\{(\w+)(\*?)\}/g;

/** The template as a regular expression over the raw (still encoded) path. */
export function pathPattern(template: string): RegExp {
  const literal = template.replace(/[.]/g, '\\.');
  return new RegExp(`^${literal.replace(SEGMENT, (_all, _name, rest) => (rest ? '.+' : '[^/]+'))}$`);
}

/**
 * The path with its parameters put in, each encoded.
 * @throws TypeError when a parameter is missing or empty.
 */
export function fillPath(template: string, params: Readonly<Record<string, unknown>> = {}): string {
  return template.replace(SEGMENT, (_all, name: string, rest: string) => {
    const value = params[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`path parameter ${name} is missing`);
    return rest ? String(value).split('/').map(encodeURIComponent).join('/') : encodeURIComponent(String(value));
  });
}

/** The route that serves a request, or undefined. Earlier declarations win, on the server too. */
export function matchRoute(routes: readonly AnyRoute[], method: string, pathname: string): AnyRoute | undefined {
  const wanted = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();
  return routes.find((route) => route.method === wanted && pathPattern(route.path).test(pathname));
}
