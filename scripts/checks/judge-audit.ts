/** Output of pnpm when there is no answer to judge by. */
const NO_ANSWER =
  /ERR_PNPM_AUDIT_(BAD_RESPONSE|ENDPOINT_NOT_EXISTS)|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|socket hang up/;

/**
 * Judges the result of an audit.
 * @param status exit status of `pnpm audit`; null = it did not end by itself.
 * @param output all that it printed.
 */
export function judgeAudit(status: number | null, output: string): { failed: boolean; message: string } {
  if (status === 0) return { failed: false, message: 'no known vulnerability of high or critical severity' };
  const [reason] = NO_ANSWER.exec(output) ?? [];
  if (reason !== undefined) return { failed: false, message: `SKIPPED, the registry gave no answer (${reason})` };
  return { failed: true, message: 'known vulnerabilities, or an error of the audit itself: see above' };
}
