import type { TrackTarget } from './track-plans.ts';

/** A version of a prompt that was not sent yet. */
export interface Draft {
  seed_title: string;
  seed_body: string;
  instructions: string;
  notes: string;
}

export const EMPTY_DRAFT: Draft = { seed_title: '', seed_body: '', instructions: '', notes: '' };

const keyOf = ({ repo, name }: TrackTarget): string => `pipeline.draft.${repo}/${name}`;

/** Returns the stored draft; null without one, or where the browser refuses storage. */
export function storedDraft(target: TrackTarget): Draft | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(target)) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return null;
    const texts = Object.entries(stored).filter(([name, value]) => name in EMPTY_DRAFT && typeof value === 'string');
    return { ...EMPTY_DRAFT, ...Object.fromEntries(texts) };
  } catch {
    return null;
  }
}

export function keepDraft(target: TrackTarget, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(target), JSON.stringify(draft));
  } catch {
    // Without storage the draft lasts as long as the dialog.
  }
}

export function forgetDraft(target: TrackTarget): void {
  try {
    localStorage.removeItem(keyOf(target));
  } catch {
    // There is nothing to remove.
  }
}
