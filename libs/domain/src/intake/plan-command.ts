import { cappedText } from '../text/pattern.ts';

/** The answer to a plan in a comment on the host. */
export interface PlanCommand {
  kind: 'approve' | 'edit' | 'reject';
  /** Null = the version that the status comment showed when the comment was written. */
  version: number | null;
  /** The edited plan, or the reason; empty when none is given. */
  text: string;
}

const COMMAND = /^\s*\/(?:svc:)?(approve|edit|reject)-plan(?:[^\S\n]+v(\d{1,9}))?(?=\s|$)([\s\S]*)$/;

/**
 * Parses `/approve-plan [vN] [REASON]`, `/reject-plan [vN] REASON`, or `/edit-plan [vN]` with the plan on the lines below.
 * @param max characters of the comment that are read.
 * @returns null for other comments.
 */
export function parsePlanCommand(body: string, max: number): PlanCommand | null {
  const found = COMMAND.exec(cappedText(body, max));
  if (!found) return null;
  const [, kind, version, text = ''] = found;
  return {
    kind: kind as PlanCommand['kind'],
    version: version === undefined ? null : Number(version),
    text: text.trim(),
  };
}
