/** jsonb without a closer type. Written by `jsonb()`, for pg would send an array as a Postgres array. */
export type Json = boolean | number | string | null | Json[] | { [key: string]: Json | undefined };
