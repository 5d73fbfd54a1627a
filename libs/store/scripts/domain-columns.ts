/**
 * Columns that hold a closed set of the domain: `table.column` -> the type in @pipeline/domain. Nullability and
 * defaults come from the database. A name that no longer fits a column is an error, not ignored.
 */
export const DOMAIN_COLUMNS: Readonly<Record<string, string>> = {
  'agent_invocations.stop_reason': "Invocation['stopReason']",
  'alerts.detector': 'AlertDetector',
  'alerts.severity': 'AlertSeverity',
  'daily_spend.told_percent': 'BudgetPercent',
  'dead_letters.from_state': 'State',
  'issue_count_deltas.state': 'State',
  'issue_counts.state': 'State',
  'issue_events.state': 'State',
  'issue_list.state': 'State',
  'issues.block_classification': 'ErrorClass',
  'issues.blocked_from_state': 'State',
  'issues.told_budget_percent': 'BudgetPercent',
  'issues.state': 'State',
  'memberships.role': 'Role',
  'projections.action': 'ProjectionAction',
  'projections.lane': 'Lane',
  'projections.status': 'ProjectionStatus',
  'repo_files.symbols': 'FileSymbol[]',
  'retrospectives.outcome_classification': 'OutcomeClassification',
  'runs.error_class': 'ErrorClass',
  'runs.task_type': 'TaskType',
  'tasks.held': 'Hold',
  'tasks.task_type': 'TaskType',
  'transitions.from_state': 'State',
  'transitions.to_state': 'State',
  'worker_periods.kind': 'WorkerPeriodKind',
  'workers.status': 'WorkerStatus',
  'workflow_snapshots.body': 'WorkflowSnapshot',
};
