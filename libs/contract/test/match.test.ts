import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fillPath, matchRoute, monitorSurface, pathPattern } from '../src/index.ts';

describe('paths', () => {
  test('whatever a parameter holds, the filled path matches its own template and gives it back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        const path = fillPath('/api/x/{id}/y', { id });
        expect(pathPattern('/api/x/{id}/y').test(path)).toBe(true);
        expect(decodeURIComponent(path.split('/')[3] ?? '')).toBe(id);
      }),
    );
  });

  test('a missing parameter is an error, not a path with a hole', () => {
    expect(() => fillPath('/api/x/{id}', {})).toThrow('path parameter id is missing');
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
