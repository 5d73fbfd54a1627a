/** Characters that JSON leaves as they are and that change what a terminal shows. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu;

/** Formats a value as JSON with control and invisible characters as `\\u` escapes: the same value, safe to print. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}
