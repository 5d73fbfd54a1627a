/**
 * Why a repository cannot be worked on, although it is enabled:
 * - archived: read-only on the host.
 * - missing: the host does not have it any more, or hides it from the pipeline's identity.
 * - replaced: as missing, and another repository has its name now.
 * - duplicate: the organisation has the same repository a second time, under its current name.
 */
export const UNAVAILABLE_REASONS = ['archived', 'missing', 'replaced', 'duplicate'] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

const PROBLEMS: Record<UnavailableReason, { problem: string; remedy: string }> = {
  archived: {
    problem: 'is archived on the host',
    remedy: 'Unarchive it on the host, or disable it with pipeline repo disable',
  },
  missing: {
    problem: 'does not exist on the host any more, or is hidden from the pipeline',
    remedy: 'Give the identity of the pipeline access to it, or disable it with pipeline repo disable',
  },
  replaced: {
    problem: 'cannot be reached, and another repository has its name now',
    remedy:
      'Give the identity of the pipeline access to the original repository, or remove it with pipeline repo remove; the other one can be added after that',
  },
  duplicate: {
    problem: 'is the same repository as another one of the organisation, which has its current name',
    remedy: 'Finish or cancel its issues, then remove it with pipeline repo remove',
  },
};

/** Describes the problem of a repository, as the end of a sentence that begins with its name. */
export const problemOfRepo = (reason: UnavailableReason): string => PROBLEMS[reason].problem;

/** Describes how people make it available again, as a sentence without its full stop. */
export const remedyForRepo = (reason: UnavailableReason): string => PROBLEMS[reason].remedy;

/** Returns whether the pipeline reads the repository on the host; an archived one can be read. */
export const isReadable = (reason: UnavailableReason | null): boolean => reason === null || reason === 'archived';
