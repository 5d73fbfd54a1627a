import type { ClaimedTask } from '@pipeline/contract';
import { OUTCOME_RESULTS, OUTCOMES_OF, type OutcomeName, type TaskType } from '@pipeline/domain';
import { z } from 'zod';

/** The answer of an agent: an outcome with the fields that the agent decides. */
export interface AgentVerdict {
  outcome: OutcomeName;
  result: Record<string, unknown>;
}

const { submitted, approved } = OUTCOME_RESULTS;

/** Results without the fields that the pipeline fills in from git. */
const AGENT_RESULTS: Record<OutcomeName, z.ZodObject> = {
  ...OUTCOME_RESULTS,
  submitted: submitted.omit({ branch: true, headSha: true, changedFiles: true }),
  approved: approved.omit({ headSha: true }),
};

const MEANINGS: Partial<Record<OutcomeName, string>> = {
  analyzed: 'The issue is clear and can be worked on.',
  'not-planned': 'The issue should not be worked on.',
  planned: 'The plan, and the paths of all files that will be created, changed or deleted.',
  split: 'The issue is too large: separate issues replace it.',
  depends: 'Other issues must be done first; references such as #12 or owner/name#12.',
  'needs-clarification': 'Information is missing that only a person has.',
  submitted: 'The work is finished. Title and body become the pull request.',
  replan: 'The plan does not work.',
  approved: 'The change is correct and complete and can be merged.',
  'changes-requested': 'The change has problems that must be fixed; comments name paths and lines of the new files.',
  'needs-human': 'A person must decide.',
  retrospective: 'The lessons of this issue.',
};

/** Returns the part of a prompt that requests the verdict, with the JSON schema of every possible outcome. */
export function verdictRequest(taskType: TaskType): string {
  const outcomes = OUTCOMES_OF[taskType].map((outcome) => {
    const schema = z.toJSONSchema(AGENT_RESULTS[outcome], { io: 'input', unrepresentable: 'any' });
    const { $schema: _, ...shown } = schema;
    return `- "${outcome}": ${MEANINGS[outcome] ?? ''} Schema of result: ${JSON.stringify(shown)}`;
  });
  return `## Verdict

End your last message with one JSON object in a code block marked json, and nothing after it:

\`\`\`json
{"outcome": "…", "result": {…}}
\`\`\`

Possible outcomes:

${outcomes.join('\n')}
`;
}

/** Returns the prompt that requests the verdict again. */
export const repeatedRequest = (problem: string): string =>
  `The pipeline could not use your last message: ${problem}\n\nFix the problem if it is one of the work itself. Then reply ` +
  'with the JSON object {"outcome": "…", "result": {…}} in a code block marked json, as described under "Verdict", and ' +
  'nothing else.';

export type ParsedVerdict = { ok: true; verdict: AgentVerdict } | { ok: false; problem: string };

/** Reads the verdict from the text of an agent: the last JSON object that names an outcome. */
export function parseVerdict({ taskType }: Pick<ClaimedTask, 'taskType'>, text: string): ParsedVerdict {
  const found = lastVerdictObject(text);
  if (found === null) return { ok: false, problem: 'it contains no JSON object with an outcome.' };
  const { outcome, result = {} } = found;
  const allowed = OUTCOMES_OF[taskType];
  const known = allowed.find((name) => name === outcome);
  if (known === undefined)
    return { ok: false, problem: `the outcome ${JSON.stringify(outcome)} is not one of: ${allowed.join(', ')}.` };
  const parsed = AGENT_RESULTS[known].safeParse(result);
  if (parsed.success) return { ok: true, verdict: { outcome: known, result: parsed.data } };
  return { ok: false, problem: `the result of "${known}" is not valid:\n${z.prettifyError(parsed.error)}` };
}

/** Beginnings of objects that are tried per form, from the end of the text. Each costs one parse of the rest of the text. */
const MAX_CANDIDATES = 50;
const FENCE = '```';

/**
 * Forms of a verdict, in this order: an object at the start of a code block, at the start of a line, anywhere. An object that
 * contains many others is found by the first two.
 */
const BEGINNINGS: readonly RegExp[] = [/^```(?:json)?\r?\n\{/gm, /^\{/gm, /\{/g];

function lastVerdictObject(text: string): Record<string, unknown> | null {
  for (const beginning of BEGINNINGS) {
    const starts = [...text.matchAll(beginning)].slice(-MAX_CANDIDATES).reverse();
    for (const { index, 0: found } of starts) {
      const value = parseFrom(text, index + found.length - 1);
      if (value !== null && 'outcome' in value) return value;
    }
  }
  return null;
}

/** Parses the object that begins at an index and ends at the last brace before the end of its code block. */
function parseFrom(text: string, start: number): Record<string, unknown> | null {
  const fence = text.indexOf(`\n${FENCE}`, start);
  const last = text.lastIndexOf('}', fence < 0 ? text.length : fence);
  if (last < start) return null;
  try {
    const value: unknown = JSON.parse(text.slice(start, last + 1));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
