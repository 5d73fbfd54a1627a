/** `npm start`: the whole product on this machine. Compiled code is kept, which halves the time of the next start. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/compiled'));
// Not statically: what is imported so is compiled before the line above.
await import('./start/stack-main.ts');
