import type { ColumnType } from 'kysely';

/** jsonb without a more specific type. */
export type Json = boolean | number | string | null | Json[] | { [key: string]: Json | undefined };

declare const content: unique symbol;

/** A value encoded by `jsonb()`. */
export type Jsonb<T> = string & { readonly [content]: T };

type Encoded<T> = Jsonb<Json extends T ? unknown : T>;

/**
 * A column of jsonb; `Omitted` is undefined where it has a default. It is written by `jsonb()` alone, because pg would
 * send an array as a Postgres array.
 */
export type JsonColumn<T, Omitted = never> = ColumnType<T, Encoded<T> | Omitted, Encoded<T>>;
