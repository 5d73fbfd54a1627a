import { createHash } from 'node:crypto';
import { cappedText, hiddenMarker } from '@pipeline/domain';

/** The host's limit for the text of an issue, a comment or a review. */
const MAX_BODY = 65_536;

export const hasMarker = (text: string | null | undefined, marker: string): boolean =>
  text?.includes(hiddenMarker(marker)) ?? false;

/**
 * The text with its marker at the end; text beyond the host's limit is cut, the marker never is. A marker that an agent wrote
 * into the text is none.
 */
export function withMarker(written: string, marker: string): string {
  const text = written.replaceAll('<!-- svc:', '<!-- ');
  const tail = `\n\n${hiddenMarker(marker)}`;
  const room = MAX_BODY - tail.length;
  const kept = text.length <= room ? text : `${cappedText(text, room - 2)}\n…`;
  return kept + tail;
}

const markersIn = (text: string): Set<string> => new Set(text.match(/<!-- svc:[^<>]* -->/g));

/** Moves the markers of the text that stands to the text that replaces it. */
export function keepMarkers(before: string | null, after: string): string {
  const kept = markersIn(after);
  const lost = [...markersIn(before ?? '')].filter((marker) => !kept.has(marker));
  return lost.length === 0 ? after : `${after}\n\n${lost.join('\n')}`;
}

/** A marker for text that came without one: the same content at the same place has the same marker. */
export const contentMarker = (kind: string, ...content: unknown[]): string =>
  `${kind}-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`;
