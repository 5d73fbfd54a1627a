import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fillPath, hostedSurface, matchesPath, matchRoute, monitorSurface } from '../../src/index.ts';

describe('paths', () => {
  test('whatever a parameter holds, the filled path matches its own template and gives it back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        const path = fillPath('/api/x/{id}/y', { id });
        expect(matchesPath('/api/x/{id}/y', path)).toBe(true);
        expect(decodeURIComponent(path.split('/')[3] ?? '')).toBe(id);
      }),
    );
  });

  test('a missing parameter is an error, not a path with a hole', () => {
    expect(() => fillPath('/api/x/{id}', {})).toThrow('path parameter id is missing');
  });

  test('parameters are whole segments in every template', () => {
    const paths = [...monitorSurface.routes, ...hostedSurface.routes].map(({ path }) => path);
    const segments = paths.flatMap((path) => path.split('/').filter((segment) => /[{}*]/.test(segment)));
    expect(segments.filter((segment) => !/^\{\w+\*?\}$/.test(segment))).toEqual([]);
  });

  test.each([
    ['POST', '/api/dead-letters/resolve-all', 'resolveAllDeadLetters'],
    ['POST', '/api/dead-letters/1/retry', 'retryDeadLetter'],
    ['HEAD', '/health', 'getHealth'],
    ['GET', '/assets/a/b.js', 'getAsset'],
    ['GET', '/assets/', undefined],
    ['GET', '/api/openapiXjson', undefined],
    ['DELETE', '/health', undefined],
  ])('%s %s is %s', (method, path, id) => {
    expect(matchRoute(monitorSurface.routes, method, path)?.id).toBe(id);
  });
});
