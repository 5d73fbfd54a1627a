/** Invisible characters that change how a text is displayed: control, bidirectional, zero-width, line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** More combining marks than any script uses on one base character. */
const STACKED_MARKS = /(\p{M}{3})\p{M}+/gu;

/** Bounds the cost: the longest input that is read, in UTF-16 units. */
const MAX_READ = 4_096;

/**
 * An external text as one line without invisible characters: names of programs and users on pages, in audit entries and
 * logs. Invisible characters become spaces, so that texts that look alike are equal.
 * @param maxLength in characters; a longer text ends with an ellipsis.
 * @returns the empty string when nothing visible is left.
 */
export function displayText(text: string, maxLength: number): string {
  const line = text
    .slice(0, MAX_READ)
    .toWellFormed()
    .normalize('NFC')
    .replace(INVISIBLE, ' ')
    .replace(STACKED_MARKS, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}
