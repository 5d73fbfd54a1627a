/** The target breaks the contract. */
export class CheckFailed extends Error {}

/** The check cannot be made on this target; the message names what it lacks. */
export class CheckSkipped extends Error {}

/** @throws CheckFailed unless the condition holds. */
export function must(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new CheckFailed(otherwise);
}

/** @throws CheckFailed unless both are equal as JSON. */
export function mustEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  must(is === wanted, `${what} is ${is}, expected ${wanted}`);
}
