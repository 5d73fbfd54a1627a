import { expect, test } from '@jest/globals';
import { STREAM_EVENTS, streamEvents } from '../../src/stream/monitor.ts';

const accepts = (types: string): boolean => streamEvents.query?.safeParse({ types }).success === true;

test.each(Object.keys(STREAM_EVENTS))('the parameter types accepts %s', (type) => {
  expect(accepts(type)).toBe(true);
  expect(accepts(`alert, ${type}`)).toBe(true);
});

test('the parameter types refuses any other text', () => {
  expect(accepts('alerts')).toBe(false);
  expect(accepts('alert,')).toBe(false);
});
