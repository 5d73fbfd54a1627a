import { ERROR_CODES } from '@pipeline/domain';
import { errorCatalogue, hostedSurface, monitorSurface, openApiDocument, type Surface } from '../src/index.ts';

/** The files that are made from the contract, by path from the root of the repository. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ['docs/reference/openapi-hosted.json', documentText(hostedSurface)],
    ['docs/reference/openapi-monitor.json', documentText(monitorSurface)],
    ['docs/errors.md', errorsPage()],
  ]);
}

const documentText = (surface: Surface) => `${JSON.stringify(openApiDocument(surface), null, 2)}\n`;

function errorsPage(): string {
  const rows = ERROR_CODES.map((code) => {
    const { status, text, meaning } = errorCatalogue[code];
    return `| \`${code}\` | ${status} | ${text} | ${meaning} |`;
  });
  return [
    '# Errors',
    '',
    'Every error answer of both services is JSON with three fields: `error` (for people), `code` (for programs) and',
    '`status` (the HTTP status). Answers carry `X-Request-Id`; the logs of the service have more under that id.',
    'A route may give a code another status or text: the OpenAPI documents say where.',
    '',
    '| code | status | text unless the route has a better one | meaning, and what to do |',
    '|---|---|---|---|',
    ...rows,
    '',
    '<!-- Written by libs/contract/scripts/generate.ts from the error catalogue. -->',
    '',
  ].join('\n');
}
