import type { HostWrite } from './write-words.ts';

export interface QueuedWrite extends HostWrite {
  repo: string;
  /** `head` = the first open write of its issue; `follower` = waits behind a failed one; null = neither. */
  place: 'head' | 'follower' | null;
}

const isOpen = ({ status }: HostWrite): boolean => status === 'pending' || status === 'failed';

/**
 * Returns the writes with their place, the issues with the newest write first and each issue's writes in the order in
 * which they are sent. A failed write holds back the later ones of its issue.
 * @param writes newest first, as the API returns them.
 */
export function inLanes(writes: readonly HostWrite[]): QueuedWrite[] {
  const lanes = Map.groupBy(
    writes,
    ({ repoOwner, repoName, issueNumber }) => `${repoOwner}/${repoName}#${issueNumber}`,
  );
  return [...lanes.values()].flatMap((lane) => {
    const ordered = lane.toReversed();
    const head = ordered.findIndex(isOpen);
    const blocks = head >= 0 && ordered[head]?.status === 'failed' && ordered.filter(isOpen).length > 1;
    return ordered.map((write, index) => ({
      ...write,
      repo: `${write.repoOwner}/${write.repoName}`,
      place: !blocks || !isOpen(write) ? null : index === head ? ('head' as const) : ('follower' as const),
    }));
  });
}
