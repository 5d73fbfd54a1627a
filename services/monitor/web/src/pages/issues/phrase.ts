import { inWords } from '@pipeline/web/format/reasons.ts';
import type { Issue } from '../../api/types.ts';

type Facts = Pick<Issue, 'blockReason' | 'blockClassification' | 'isPaused' | 'currentStatus' | 'dependsOn' | 'state'>;

/** Returns why an issue is where it is, in a phrase: the obstacle first, else the last report of its agent. */
export function phraseOf({
  blockReason,
  blockClassification,
  isPaused,
  currentStatus,
  dependsOn,
  state,
}: Facts): string {
  if (isPaused) return 'paused by an operator';
  if (state === 'dependency-blocked' && dependsOn.length > 0) {
    return `waits for ${dependsOn.map((number) => `#${number}`).join(', ')}`;
  }
  if (blockReason !== null) {
    const kind = blockClassification === null || blockClassification === 'unknown' ? '' : ` (${blockClassification})`;
    return `${inWords(blockReason)}${kind}`;
  }
  return currentStatus ?? '';
}
