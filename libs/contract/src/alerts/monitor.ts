import { ALERT_DETECTORS, ALERT_SEVERITIES, type Alert as DomainAlert, isStorable } from '@pipeline/domain';
import { z } from 'zod';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { issueNumberText, slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { Alert } from './alert.ts';

const wire: (alert: DomainAlert) => z.input<typeof Alert> = (alert) => alert;
void wire;

const text = z.string().max(200).refine(isStorable, 'must not contain NUL or unpaired surrogates');

const listAlerts = route({
  id: 'listAlerts',
  method: 'get',
  path: '/api/alerts',
  summary: 'List alerts',
  description: 'Returns open alerts by default, most recently detected first. Resolved alerts are kept for 90 days.',
  tags: ['Alerts'],
  auth: 'operator',
  query: z.object({
    status: z
      .enum(['open', 'resolved', 'all'], 'must be open, resolved or all')
      .default('open')
      .meta({ description: 'Status of the alerts to return. Default: open.', example: 'open' }),
    severity: z
      .enum(ALERT_SEVERITIES)
      .optional()
      .meta({ description: 'Returns only alerts of this severity.', example: 'critical' }),
    detector: z
      .enum(ALERT_DETECTORS)
      .optional()
      .meta({ description: 'Returns only alerts of this detector.', example: 'queue_age' }),
    repo: slugText('must be owner/name')
      .optional()
      .meta({ description: 'Returns only alerts of this repo, `owner/name`.', example: 'acme/shop' }),
    issue: issueNumberText('must be a positive whole number')
      .transform(Number)
      .optional()
      .meta({ description: 'Returns only alerts of issues with this number.', example: '7' }),
    tenant: text
      .optional()
      .meta({ description: 'Returns only alerts of the tenant with this external id.', example: 'default' }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page of alerts.', body: PaginatedResponse(Alert) } },
});

export const alertRoutes = [listAlerts] as const;
