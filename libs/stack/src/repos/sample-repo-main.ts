/** Makes the sample repository: `node sample-repo-main.ts DIR`. */
import { makeSampleRepo } from './sample-repo.ts';
import { gitEnv } from './source-repo.ts';

const [dir] = process.argv.slice(2);
if (dir === undefined) {
  process.stderr.write('usage: sample-repo-main.ts DIR\n');
  process.exitCode = 2;
} else {
  await makeSampleRepo(dir, gitEnv(process.env.PATH ?? ''));
}
