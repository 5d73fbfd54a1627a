import { afterAll, describe, expect, test } from '@jest/globals';
import { placeOf } from '../../src/settings/config-summary.ts';
import { database } from './database.ts';

describe('the place of the database', () => {
  const URL = 'postgres://u:secret@a:1,b:2/pipeline';

  test('names the server in use when there is one, otherwise the first of the URL', () => {
    expect(placeOf(URL, 10, { host: 'b', port: 2, position: 2 })).toEqual({ host: 'b', port: 2, poolSize: 10 });
    expect(placeOf(URL, 10)).toEqual({ host: 'a', port: 1, poolSize: 10 });
    expect(placeOf(URL, 10, null)).toEqual({ host: 'a', port: 1, poolSize: 10 });
  });

  test('names no host when no store is configured, or when it is reached by the default socket', () => {
    expect(placeOf(undefined, 10, null)).toEqual({ host: null, port: 5432, poolSize: 10 });
    expect(placeOf('postgres:///pipeline', 10, { host: '', port: 5432, position: 1 }).host).toBeNull();
  });

  afterAll(() => database.clear());
});
