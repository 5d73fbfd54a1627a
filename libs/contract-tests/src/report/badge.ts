import { problemCount, type Report, withOutcome } from './report.ts';

const LABEL = 'contract';
const COLOURS = { passing: '4c1', failing: 'e05d44', unknown: '9f9f9f' } as const;
/** Pixels. The width of a character of the picture's font, which `textLength` enforces, and the space beside a text. */
const CHARACTER = 6.5;
const MARGIN = 5;
const HEIGHT = 20;

/** Returns the text of a badge: the number of checks that passed, or of problems. */
function statusOf(report: Report): { message: string; status: keyof typeof COLOURS } {
  const problems = problemCount(report);
  if (problems > 0) return { message: `${problems} failed`, status: 'failing' };
  const passed = withOutcome(report, 'passed').length;
  if (passed === 0 && !report.property?.tally.requests) return { message: 'nothing tested', status: 'unknown' };
  return { message: `${passed} passed`, status: 'passing' };
}

/** @returns a picture when the file is named .svg, else the JSON that shields.io reads from an endpoint. */
export function badgeText(report: Report, file: string): string {
  const { message, status } = statusOf(report);
  const color = COLOURS[status];
  if (file.toLowerCase().endsWith('.svg')) return svg(message, color);
  const isError = status === 'failing';
  return `${JSON.stringify({ schemaVersion: 1, label: LABEL, message, color, ...(isError && { isError }) }, null, 2)}\n`;
}

/** The texts hold letters, digits and spaces only. */
function svg(message: string, color: string): string {
  const [left, right] = [widthOf(LABEL), widthOf(message)];
  const width = left + right;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${LABEL}: ${message}">
<title>${LABEL}: ${message}</title>
<clipPath id="corners"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#corners)">
<rect width="${left}" height="${HEIGHT}" fill="#555"/>
<rect x="${left}" width="${right}" height="${HEIGHT}" fill="#${color}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${text(LABEL, 0)}
${text(message, left)}
</g>
</svg>
`;
}

const widthOf = (content: string): number => Math.round(content.length * CHARACTER) + 2 * MARGIN;

const text = (content: string, at: number): string =>
  `<text x="${at + MARGIN}" y="14" textLength="${widthOf(content) - 2 * MARGIN}">${content}</text>`;
