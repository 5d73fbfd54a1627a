/** A parameter in the address of a page: how it is read, written, and what its absence means. */
export interface Field<T> {
  fallback: T;
  /** Returns undefined for a text that is no value of the field. */
  parse(text: string): T | undefined;
  format(value: T): string;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
export type Values<F> = { [Name in keyof F]: F[Name] extends Field<infer T> ? T : never };

export function oneOf<const T extends string>(values: readonly T[], fallback: NoInfer<T>): Field<T> {
  return { fallback, parse: (text) => values.find((value) => value === text), format: (value) => value };
}

/** One of the values, or none. */
export function optional<const T extends string>(values: readonly T[]): Field<T | ''> {
  return { fallback: '', parse: (text) => values.find((value) => value === text), format: (value) => value };
}

export const text = (maxLength = 200): Field<string> => ({
  fallback: '',
  parse: (given) => (given.length <= maxLength ? given : undefined),
  format: (value) => value,
});

export const onOff = (): Field<boolean> => ({
  fallback: false,
  parse: (given) => (given === '1' ? true : undefined),
  format: (value) => (value ? '1' : ''),
});

/** Several of the values, separated by commas. */
export function someOf<const T extends string>(values: readonly T[]): Field<readonly T[]> {
  return {
    fallback: [],
    parse: (given) => {
      const chosen = given.split(',').map((part) => values.find((value) => value === part));
      return chosen.every((value) => value !== undefined) ? chosen : undefined;
    },
    format: (value) => value.join(','),
  };
}

export const wholeNumber = (fallback: number, min: number, max: number): Field<number> => ({
  fallback,
  parse: (given) => {
    const number = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  },
  format: String,
});

export interface Address<F> {
  values: Values<F>;
  /** Parameters whose text is no value of their field, as `name=text`. */
  rejected: string[];
}

/** Reads the fields from the parameters of an address. Unknown parameters are ignored. */
export function readAddress<F extends Fields>(fields: F, search: Readonly<Record<string, unknown>>): Address<F> {
  const rejected: string[] = [];
  const values = Object.entries(fields).map(([name, field]) => {
    const given = search[name];
    if (given === undefined || given === '') return [name, field.fallback];
    const value: unknown = field.parse(String(given));
    if (value === undefined) rejected.push(`${name}=${String(given).slice(0, 60)}`);
    return [name, value ?? field.fallback];
  });
  return { values: Object.fromEntries(values) as Values<F>, rejected };
}

/** Returns the parameters of changed values; undefined removes one, as does the value of its absence. */
export function writeAddress<F extends Fields>(
  fields: F,
  change: Partial<Values<F>>,
): Record<string, string | undefined> {
  const written = Object.entries(change).map(([name, value]) => {
    const field = fields[name];
    if (field === undefined || value === undefined) return [name, undefined];
    const given = field.format(value);
    return [name, given === '' || given === field.format(field.fallback) ? undefined : given];
  });
  return Object.fromEntries(written);
}
