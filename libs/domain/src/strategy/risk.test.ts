import { describe, expect, test } from '@jest/globals';
import type { StrategyTrack } from './inputs.ts';
import { appliesByItself, assessRisk } from './risk.ts';
import type { StrategyChange } from './snapshot.ts';

const ENVELOPE = { max_auto_size: 'medium' as const, prefer: [], avoid: [], escalate_when: [] };

const TESTS: StrategyTrack = { name: 'tests', label: '', enabled: true, weight: 1, proposal: null };

describe('risk', () => {
  const raise: StrategyChange = {
    track: 'tests',
    field: 'weight',
    from: 1,
    to: 2,
    rule: 'open-findings',
    reason: '',
    evidence: [],
    about: ['ci_failure', 'high'],
  };
  const large: StrategyTrack[] = [{ ...TESTS, proposal: [{ size: 'large', count: 1, theme: 'Old Parser' }] }];

  test.each(['tests', 'TESTS ', 'large', 'old-parser', 'CI failure', 'weight'])('more of "%s" violates it', (entry) => {
    const envelope = { ...ENVELOPE, avoid: [entry] };
    expect(assessRisk([raise], large, envelope)).toMatchObject({
      withinEnvelope: false,
      violations: [`tests weight: the charter avoids "${entry}"`],
    });
    const less = { ...raise, from: 2, to: 1 } as StrategyChange;
    expect(assessRisk([less], large, envelope)).toMatchObject({ withinEnvelope: true, maxSize: 'small' });
  });

  test('the risk has the size of the increased work', () => {
    expect(assessRisk([raise], large, ENVELOPE).maxSize).toBe('large');
    const trimmed = { ...raise, field: 'proposal', from: large[0]?.proposal, to: null } as StrategyChange;
    expect(assessRisk([raise, trimmed], large, ENVELOPE).maxSize).toBe('small');
  });

  test('needs an operator for everything and forbids nothing without a charter', () => {
    const risk = assessRisk([raise], large, null);
    expect(risk).toMatchObject({ withinEnvelope: true, needsApproval: ['there is no active charter'] });
    expect(appliesByItself(risk)).toBe(false);
  });

  test('needs an operator for an escalated change also when it decreases', () => {
    const less = { ...raise, from: 2, to: 1 } as StrategyChange;
    const risk = assessRisk([less], large, { ...ENVELOPE, escalate_when: ['ci_failure'] });
    expect(risk.needsApproval).toEqual(['tests weight: the charter escalates "ci_failure"']);
  });
});
