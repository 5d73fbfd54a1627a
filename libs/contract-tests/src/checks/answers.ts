import type { AnyRoute, Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { mustEqual } from './outcome.ts';
import type { Probe } from './probe.ts';
import { templateOf } from './request-of.ts';

/** Streams are read by checks of their own. */
const isRead = ({ method, undocumented, id }: AnyRoute): boolean =>
  method === 'get' && !undocumented && id !== 'streamEvents';

/** Every documented read is answered with its declared success, by every kind of credential that is accepted. */
export const answerChecks = ({ routes }: Surface): Check[] =>
  routes.filter(isRead).flatMap((route) => {
    const template = templateOf(route);
    return template === null ? [] : [success(route, template), unknownParameter(route, template)];
  });

const success = (route: AnyRoute, template: string): Check => ({
  suite: 'answers',
  endpoint: route.id,
  name: 'answers a valid request with the declared fields',
  async run(probe) {
    for (const credential of accepted(probe, route)) {
      const answer = await probe.send(template, { credential });
      mustEqual(`status with credential "${credential.name}"`, answer.status, 200);
    }
  },
});

const unknownParameter = (route: AnyRoute, template: string): Check => ({
  suite: 'answers',
  endpoint: route.id,
  name: 'ignores an unknown query parameter',
  async run(probe) {
    const { status } = await probe.send(`${template}${template.includes('?') ? '&' : '?'}pipeline_contract=1`);
    mustEqual('status', status, 200);
  },
});

/** A route without credentials is read once. */
function accepted(probe: Probe, { auth }: AnyRoute) {
  probe.good(auth);
  return probe.tested.matrix.good(auth);
}
