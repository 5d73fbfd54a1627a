/** Input and result of an operation; the package has the types of each surface. */
export interface Operation {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  result: unknown;
}

/** Operations by the operationId of the OpenAPI document. */
export type Operations<O> = { [K in keyof O]: Operation };

export interface CallOptions {
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

type InputOf<T> = Omit<T, 'result'>;

type Call<T extends Operation> =
  object extends InputOf<T>
    ? (input?: InputOf<T>, options?: CallOptions) => Promise<T['result']>
    : (input: InputOf<T>, options?: CallOptions) => Promise<T['result']>;

/** A method for each operation. */
export type Calls<O extends Operations<O>> = { readonly [K in keyof O]: Call<O[K]> };

/** Names of the operations that return pages. */
export type Paged<O extends Operations<O>> = {
  [K in keyof O]: O[K]['result'] extends { items: readonly unknown[] } ? K : never;
}[keyof O];

export type ItemOf<T extends Operation> = T['result'] extends { items: readonly (infer I)[] } ? I : never;
