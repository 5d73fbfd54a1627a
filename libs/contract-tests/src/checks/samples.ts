import { CheckSkipped } from './outcome.ts';

/** Things that are on the target, by the name that requests give them. */
export type Samples = Readonly<Partial<Record<SampleName, string>>>;

/** `repo` is `owner/name`; the others are path segments as they are, not encoded. */
export type SampleName =
  | 'repo'
  | 'owner'
  | 'name'
  | 'issue'
  | 'runId'
  | 'intelligence'
  | 'track'
  | 'prompt'
  | 'snapshot'
  | 'scratch';

/** Valid names of nothing: requests to them change nothing, whatever the target does. */
export const ABSENT = {
  owner: 'pipeline-contract',
  name: 'absent',
  repo: 'pipeline-contract/absent',
  number: '2147483647',
  uuid: '00000000-0000-4000-8000-000000000000',
  track: 'pipeline-contract-absent',
} as const;

/** @throws CheckSkipped when the target has nothing of the kind. */
export function sampleOf(samples: Samples, name: SampleName): string {
  const value = samples[name];
  if (value === undefined) throw new CheckSkipped(`the target has no ${WORDS[name]}`);
  return value;
}

const WORDS: Record<SampleName, string> = {
  repo: 'repo',
  owner: 'repo',
  name: 'repo',
  issue: 'issue',
  scratch: 'scratch repo; --write owner/name gives one',
  runId: 'artefact of a run',
  intelligence: 'intelligence item',
  track: 'track',
  prompt: 'prompt version',
  snapshot: 'strategy snapshot',
};
