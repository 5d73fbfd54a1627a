import { z as zod } from 'zod';

/**
 * zod whose schemas are built when they are first used. The services declare 3,000 schemas each and use few of them at
 * their start; building all was a quarter of the start and 7 to 12 MiB (docs/decisions/0002). A call that makes a
 * schema, or derives one from another, is remembered; whatever else is done with the result builds it, once.
 */
export const z: typeof zod = new Proxy(zod, {
  get: (target, name) => (name === 'iso' ? new Proxy(zod.iso, { get: making }) : making(target, name)),
});

function making(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return MAKING.has(name) ? remembering(value as Make) : value;
}

/** The types of zod. */
export declare namespace z {
  namespace core {
    type $ZodIssue = zod.core.$ZodIssue;
  }
  type infer<T extends zod.ZodType> = zod.infer<T>;
  type input<T extends zod.ZodType> = zod.input<T>;
  type output<T extends zod.ZodType> = zod.output<T>;
  type RefinementCtx<T = unknown> = zod.RefinementCtx<T>;
  type ZodDefault<T extends zod.ZodType = zod.ZodType> = zod.ZodDefault<T>;
  type ZodInt = zod.ZodInt;
  type ZodObject<S extends zod.ZodRawShape = zod.ZodRawShape> = zod.ZodObject<S>;
  type ZodRawShape = zod.ZodRawShape;
  type ZodType<O = unknown, I = unknown> = zod.ZodType<O, I>;
}

type Make = (...parts: unknown[]) => zod.ZodType;

/** Functions of zod that make a schema. Any other builds its arguments at once. */
const MAKING: ReadonlySet<string | symbol> = new Set([
  ...[
    'string',
    'number',
    'int',
    'boolean',
    'literal',
    'enum',
    'null',
    'unknown',
    'email',
    'url',
    'uuid',
    'date',
    'datetime',
  ],
  ...['object', 'strictObject', 'looseObject', 'array', 'record', 'union', 'discriminatedUnion', 'preprocess'],
]);

/** Methods that derive a schema from another. */
const DERIVING: ReadonlySet<string | symbol> = new Set([
  ...[
    'meta',
    'describe',
    'optional',
    'nullable',
    'nullish',
    'default',
    'prefault',
    'readonly',
    'array',
    'pipe',
    'transform',
  ],
  ...['refine', 'superRefine', 'regex', 'min', 'max', 'length', 'trim', 'toLowerCase'],
  ...['int', 'positive', 'nonnegative', 'extend', 'partial', 'pick', 'omit', 'strict'],
]);

const BUILT = Symbol('built');

/** Stands for a schema until it is used. */
class Remembered {
  readonly #make: () => zod.ZodType;
  #schema: zod.ZodType | undefined;

  constructor(make: () => zod.ZodType) {
    this.#make = make;
  }

  get schema(): zod.ZodType {
    this.#schema ??= this.#make();
    return this.#schema;
  }
}

const remembering =
  (make: Make): Make =>
  (...parts) =>
    remember(() => make(...built(parts)));

const remember = (make: () => zod.ZodType): zod.ZodType =>
  new Proxy(new Remembered(make), USE) as unknown as zod.ZodType;

const USE: ProxyHandler<Remembered> = {
  get(target, name) {
    if (name === BUILT) return target.schema;
    if (DERIVING.has(name)) return deriving(target, name);
    const value: unknown = Reflect.get(target.schema, name);
    return typeof value === 'function' ? value.bind(target.schema) : value;
  },
  set: (target, name, value) => Reflect.set(target.schema, name, value),
  has: (target, name) => name === BUILT || Reflect.has(target.schema, name),
};

/** `meta()` without an argument returns the metadata. */
const deriving =
  (target: Remembered, name: string | symbol): Make =>
  (...parts) => {
    const derive = () => (Reflect.get(target.schema, name) as Make).apply(target.schema, built(parts));
    return parts.length === 0 && name === 'meta' ? derive() : remember(derive);
  };

/** The schemas themselves in place of those that are only remembered, also in lists and shapes. */
export function built<T>(part: T): T {
  if (typeof part !== 'object' || part === null) return part;
  if (BUILT in part) return part[BUILT] as T;
  if (Array.isArray(part)) return part.map(built) as T;
  if (Object.getPrototypeOf(part) !== Object.prototype) return part;
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, built(inner)])) as T;
}
