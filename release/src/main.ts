/**
 * Makes a release, or shows what it would publish. Nothing is pushed or published from here.
 *
 *   npm run release -- VERSION|patch|minor|major      raise every version, close the changelog, commit and tag
 *   npm run release -- --dry-run [--out DIR]          build every artefact into DIR (dist/release) and list it
 *
 * Options of the second form, which the workflow of a release also runs:
 *   --no-images    leave out the container images, which are built by another job
 *   --tag TAG      fail unless TAG is the tag of the version of this repository, with a section of the changelog
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildArtifacts } from './artifacts.ts';
import { hasSection } from './changelog.ts';
import { cutRelease } from './cut.ts';
import { buildImages, missingEngine } from './images.ts';
import { productVersion, repositoryUrl } from './versions.ts';

const root = join(import.meta.dirname, '../..');
const USAGE = 'usage: npm run release -- VERSION|patch|minor|major | --dry-run [--out DIR] [--no-images] [--tag TAG]';

try {
  await run();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { values, positionals } = parsed();
  const [wanted] = positionals;
  if (values['dry-run'] === (wanted !== undefined) || positionals.length > 1) {
    console.error(USAGE);
    process.exitCode = 2;
  } else if (wanted === undefined) {
    if (values.tag !== undefined) requireTag(values.tag);
    await dryRun(resolve(values.out ?? join(root, 'dist/release')), values.images);
  } else {
    const { tag } = cutRelease(root, wanted, new Date());
    console.log(`Committed and tagged ${tag}. To publish it: git push --atomic origin HEAD ${tag}`);
  }
}

function parsed() {
  return parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      images: { type: 'boolean', default: true },
      out: { type: 'string' },
      tag: { type: 'string' },
    },
  });
}

/** A tag on another commit would publish files that state another version. */
function requireTag(tag: string): void {
  const version = productVersion(root);
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but the repository states ${version}`);
  if (!hasSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version))
    throw new Error(`CHANGELOG.md has no section for ${version}`);
  // The npm registry rejects a provenance of another repository, after the images are published.
  const { GITHUB_SERVER_URL = 'https://github.com', GITHUB_REPOSITORY } = process.env;
  const repository = repositoryUrl(root);
  if (GITHUB_REPOSITORY !== undefined && repository !== `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`)
    throw new Error(`package.json: repository.url is ${repository}, but this is ${GITHUB_REPOSITORY}`);
}

async function dryRun(out: string, withImages: boolean): Promise<void> {
  const artifacts = await buildArtifacts(root, out, (line) => console.error(line));
  console.log(`${artifacts.length} files in ${relative(process.cwd(), out)}:`);
  for (const { file, bytes, sha256 } of artifacts) console.log(`${sha256}  ${sizeOf(bytes)}  ${file}`);
  if (!withImages) return;
  const missing = missingEngine(root);
  if (missing !== undefined) {
    console.log(`images: skipped, ${missing}`);
    return;
  }
  console.error('images');
  const images = buildImages(root, productVersion(root), repositoryUrl(root));
  writeFileSync(join(out, 'images.json'), `${JSON.stringify(images, null, 2)}\n`);
  console.log(`${images.length} images in the local engine, described in images.json:`);
  for (const { name, id, bytes } of images) console.log(`${id.replace('sha256:', '')}  ${sizeOf(bytes)}  ${name}`);
}

function sizeOf(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`.padStart(10);
}
