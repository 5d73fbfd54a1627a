import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Cuts the operations below out of GitHub's description of its API, makes it strict (nullable values as JSON Schema,
 * closed request bodies, so that a misnamed field fails) and writes test/github-strict-more.json. By hand, when an
 * operation is added here:
 *   npm pack @octokit/openapi@23 && tar xzf octokit-openapi-*.tgz
 *   node libs/vcs/scripts/slim-github.ts package/generated/api.github.com.json
 */

const OPERATIONS: readonly [method: string, path: string][] = [
  ['post', '/app-manifests/{code}/conversions'],
  ['post', '/app/installations/{installation_id}/access_tokens'],
  ['get', '/repos/{owner}/{repo}/installation'],
  ['post', '/repos/{owner}/{repo}/issues'],
  ['post', '/repos/{owner}/{repo}/issues/{issue_number}/assignees'],
  ['get', '/repos/{owner}/{repo}/issues/{issue_number}/sub_issues'],
  ['post', '/repos/{owner}/{repo}/issues/{issue_number}/sub_issues'],
  ['post', '/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'],
  ['get', '/repos/{owner}/{repo}/pulls'],
  ['patch', '/repos/{owner}/{repo}/pulls/{pull_number}'],
  ['get', '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'],
  ['post', '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'],
  ['post', '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers'],
  ['delete', '/repos/{owner}/{repo}/git/refs/{ref}'],
  ['post', '/repos/{owner}/{repo}/statuses/{sha}'],
  ['get', '/repos/{owner}/{repo}/collaborators/{username}/permission'],
  ['get', '/repos/{owner}/{repo}/activity'],
  ['get', '/repos/{owner}/{repo}/branches/{branch}'],
  ['get', '/repos/{owner}/{repo}/branches/{branch}/protection'],
  ['get', '/repos/{owner}/{repo}/rules/branches/{branch}'],
];

type Json = { [key: string]: unknown };
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const [, , source] = process.argv;
if (source === undefined) throw new Error('usage: slim-github.ts api.github.com.json');
const document = JSON.parse(readFileSync(source, 'utf8')) as Json;

const resolve = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json)[key.replaceAll('~1', '/')], document);

const PROSE = ['description', 'example', 'examples', 'externalDocs', 'x-github', 'summary', 'tags', 'deprecated'];

/** Schemas may have properties of these names; then they are objects and not text. */
const isProse = (key: string, value: unknown): boolean =>
  PROSE.includes(key) && !(isObject(value) && ('type' in value || '$ref' in value));

function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key, inner]) => key !== 'nullable' && !isProse(key, inner));
  const plain = Object.fromEntries(entries.map(([key, inner]) => [key, strict(inner)]));
  return value.nullable === true ? orNull(plain) : plain;
}

function orNull(schema: Json): Json {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = Array.isArray(schema.enum) ? { enum: [...new Set([...schema.enum, null])] } : {};
  return { ...schema, type: [schema.type, 'null'], ...values };
}

/** Request bodies, references followed: no field but the described ones. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  if (typeof value.$ref === 'string') return closed(strict(resolve(value.$ref)));
  const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  return isObject(inner.properties) ? { ...inner, additionalProperties: false } : inner;
}

const paths: Record<string, Json> = {};
for (const [method, path] of OPERATIONS) {
  const operation = strict((document.paths as Record<string, Json>)[path]?.[method]) as Json;
  if (!isObject(operation)) throw new Error(`${method} ${path} is not in the description`);
  paths[path] = { ...paths[path], [method]: { ...operation, requestBody: closed(operation.requestBody) } };
}

/** Components that these operations refer to, directly or through others. */
const components: Record<string, Json> = {};
const open = [JSON.stringify(paths)];
for (let text = open.pop(); text !== undefined; text = open.pop()) {
  for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
    if (components[kind]?.[name] !== undefined) continue;
    const component = strict(resolve(`#/components/${kind}/${name}`));
    components[kind] = { ...components[kind], [name]: component };
    open.push(JSON.stringify(component));
  }
}

const written = { openapi: '3.1.0', info: document.info, paths, components };
writeFileSync(new URL('../test/github-strict-more.json', import.meta.url), `${JSON.stringify(written)}\n`);
