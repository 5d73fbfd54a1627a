/** One line on standard output for each check of a program, and an error that names the check that failed. */
import { isDeepStrictEqual } from 'node:util';

const LONGEST = 100;

/** Runs a check and prints its name, its duration and a short result. @throws Error with its name. */
export async function check<T>(what: string, run: () => T | Promise<T>): Promise<T> {
  const began = Date.now();
  let result: T;
  try {
    result = await run();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
  const seconds = ((Date.now() - began) / 1_000).toFixed(1).padStart(6);
  const short = typeof result === 'string' && result.length < LONGEST ? result.trim() : '';
  console.log(`ok ${seconds} s  ${what}${short && `: ${short}`}`);
  return result;
}

/** @throws Error with both values when they differ. */
export function expectEqual(what: string, found: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
}

/** @throws Error with the text when the part is missing. */
export function expectPart(text: unknown, part: string): void {
  if (!String(text).includes(part)) throw new Error(`expected ${JSON.stringify(part)} in: ${text}`);
}

/** Polls a condition twice a second. @throws Error naming the condition that did not hold in time. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
