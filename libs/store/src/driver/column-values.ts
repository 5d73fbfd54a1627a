/** jsonb without a more specific type. Written by `jsonb()`, because pg would send an array as a Postgres array. */
export type Json = boolean | number | string | null | Json[] | { [key: string]: Json | undefined };
