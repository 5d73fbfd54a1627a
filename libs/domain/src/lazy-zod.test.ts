import { describe, expect, jest, test } from '@jest/globals';
import { z as zod } from 'zod';
import { built, z } from './lazy-zod.ts';

/** Counts the schemas that a function builds. */
function countBuilt(work: () => unknown): number {
  const config = zod.config() as { postProcessor?: (schema: unknown) => void };
  const count = jest.fn();
  config.postProcessor = count;
  try {
    work();
  } finally {
    delete config.postProcessor;
  }
  return count.mock.calls.length;
}

const declare = () => {
  const Name = z.string().min(1).max(9).meta({ description: 'A name.' });
  const Item = z
    .object({ name: Name, at: z.iso.datetime(), size: z.int().nonnegative().nullable() })
    .meta({ id: 'Item' });
  const List = z.object({ items: z.array(Item).max(3).default([]), state: z.enum(['on', 'off']).optional() });
  return { Name, Item, List };
};

describe('schemas that are built when they are first used', () => {
  test('a declaration builds none', () => {
    expect(countBuilt(declare)).toBe(0);
  });

  test('the first use builds a schema with its parts, and a second use builds nothing', () => {
    const { List } = declare();
    const parse = () => List.parse({ items: [] });
    expect(countBuilt(parse)).toBeGreaterThan(5);
    expect(countBuilt(parse)).toBe(0);
  });

  test('they accept, refuse and describe what those of zod do', () => {
    const { List } = declare();
    const item = { name: 'a', at: '2026-01-01T00:00:00Z', size: null };
    expect(List.parse({ items: [item] })).toEqual({ items: [item] });
    expect(List.safeParse({ items: [{ ...item, name: '' }] }).error?.issues[0]?.path).toEqual(['items', 0, 'name']);
    const same = zod.object({ items: zod.array(zod.object({ name: zod.string() })) });
    const lazy = z.object({ items: z.array(z.object({ name: z.string() })) });
    expect(zod.toJSONSchema(lazy)).toEqual(zod.toJSONSchema(same));
  });

  test('a schema is the same one in every shape that has it, with its metadata', () => {
    const { Item, List } = declare();
    const inside = List.shape.items.unwrap().element;
    expect(inside).toBe(built(Item));
    expect(Item.meta()).toEqual({ id: 'Item' });
    expect(List.shape.items.unwrap().element.shape.name.meta()).toEqual({ description: 'A name.' });
  });

  test('schemas of zod take part', () => {
    const own = zod.string().min(2);
    const { shape } = z.object({ own, list: z.array(own) });
    expect(shape.own).toBe(own);
    expect(shape.list.element).toBe(own);
  });

  test('they are instances of their classes, have their fields, and may be derived from', () => {
    const { Item } = declare();
    expect(Item instanceof zod.ZodObject).toBe(true);
    expect('shape' in Item).toBe(true);
    expect(Object.hasOwn(Item, 'raw')).toBe(false);
    const more = Item.extend({ extra: z.boolean() });
    expect(Object.keys(more.shape)).toEqual(['name', 'at', 'size', 'extra']);
    expect(z.object(more.shape).strict().safeParse({ none: 1 }).success).toBe(false);
  });
});

describe('built', () => {
  test('replaces remembered schemas in lists and objects, and leaves all else as it is', () => {
    const { Name } = declare();
    const date = new Date(0);
    const whole = built({ list: [Name, 1], date, text: 'x', none: null });
    expect(whole.list[0]).toBe(built(Name));
    expect(whole).toMatchObject({ date, text: 'x', none: null });
    expect(whole.date).toBe(date);
  });
});
