import { afterAll, describe, expect, test } from '@jest/globals';
import { placeOf } from '../../src/settings/config-summary.ts';
import { database } from './database.ts';

describe('the place of the database', () => {
  test('names the server of the URL', () => {
    expect(placeOf('postgres://u:secret@a:1/pipeline', 10)).toEqual({ host: 'a', port: 1, poolSize: 10 });
  });

  test('names no host when no store is configured, or when it is reached by the default socket', () => {
    expect(placeOf(undefined, 10)).toEqual({ host: null, port: 5432, poolSize: 10 });
    expect(placeOf('postgres:///pipeline', 10).host).toBeNull();
  });

  afterAll(() => database.clear());
});
