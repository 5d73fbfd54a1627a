import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { list } from 'tar';
import { packChart } from '../src/chart.ts';
import { CHART, statedVersions, withVersion } from '../src/versions.ts';
import { runGit } from './scratch-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'chart-'));
afterAll(() => rmSync(root, { recursive: true }));

const FILES = {
  'package.json': '{\n  "version": "0.1.0"\n}\n',
  [`${CHART}/Chart.yaml`]:
    'apiVersion: v2\nname: pipeline\nversion: 0.1.0\nappVersion: "0.1.0"\nkubeVersion: ">=1.30.0-0"\n',
  [`${CHART}/.helmignore`]: '# of developers\nREADME.md\nci/\n*.test.yaml\n',
  [`${CHART}/README.md`]: '',
  [`${CHART}/ci/values.yaml`]: '',
  [`${CHART}/templates/job.yaml`]: '',
  [`${CHART}/templates/job.test.yaml`]: '',
};

test('builds no package when there is no chart', async () => {
  expect(await packChart(root, root, '0.1.0')).toBe(false);
});

test('packs the chart in a folder of its name, without ignored and untracked files, and the same each time', async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  runGit(root, 'init', '--quiet');
  runGit(root, 'add', '--all');
  runGit(root, '-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '--message', 'test');
  writeFileSync(join(root, CHART, 'secrets.yaml'), '');
  const file = join(root, 'pipeline-0.1.0.tgz');
  const pack = async () => {
    expect(await packChart(root, root, '0.1.0')).toBe(true);
    return readFileSync(file);
  };
  const first = await pack();
  expect((await pack()).equals(first)).toBe(true);
  const names: string[] = [];
  await list({ file, onReadEntry: ({ path }) => names.push(path) });
  expect(names.sort()).toEqual(['pipeline/.helmignore', 'pipeline/Chart.yaml', 'pipeline/templates/job.yaml']);
});

test('states the version of the product twice, and gets the next one', () => {
  expect(statedVersions(root).map(({ version }) => version)).toEqual(['0.1.0', '0.1.0', '0.1.0']);
  expect(withVersion(root, '0.2.0').get(`${CHART}/Chart.yaml`)).toBe(
    FILES[`${CHART}/Chart.yaml`]?.replaceAll('0.1.0', '0.2.0'),
  );
});
