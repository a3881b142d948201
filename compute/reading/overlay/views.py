"""The tables of added judgements in a reading's database, and the views over them. Cursors put the
schema `added` (official + added) or `seen` (official) before `main` in their search path, and set
the variables `seen`, the id of the last judgement they see, and `overlay`, a choice's number."""

from compute.reading.means import FORUMS, OF_PARTS

NEVER = 2**62
"""The end (`died`) of a row that is still valid."""

# A row is valid for versions from `born` until before `died`, so readers of several versions each
# see their own rows.
SCHEMAS = f"""
create schema kept;
create table kept.unfollowed (dataset text, system text, measure text);
create table kept.queries (overlay bigint, dataset text, query_id text, born bigint);
create table kept.labels (
    overlay bigint, dataset text, query_id text, doc_id text, relevance integer,
    born bigint, died bigint);
create table kept.scores (
    overlay bigint, dataset text, system text, run integer, query_id text, measure text,
    value double, born bigint, died bigint);
create table kept.means (
    overlay bigint, dataset text, system text, measure text, value double, value_returned double,
    n_queries bigint, n_unanswered bigint, born bigint, died bigint);

create schema seen;
create view seen.added_judgements as
select * from main.added_judgements where id <= getvariable('seen');

create schema added;
create view added.added_judgements as select * from seen.added_judgements;
create view added.rescored as
select dataset, query_id from kept.queries
where overlay = getvariable('overlay') and born <= getvariable('seen');
create view added.labels as
select dataset, query_id, doc_id, relevance from kept.labels
where overlay = getvariable('overlay')
  and born <= getvariable('seen') and died > getvariable('seen');
create view added.judgements as
select dataset, query_id, doc_id, relevance from main.judgements
union all
select dataset, query_id, doc_id, relevance from added.labels;
create view added.kept_scores as
select * from kept.scores
where overlay = getvariable('overlay')
  and born <= getvariable('seen') and died > getvariable('seen');
create view added.lost as
select * from kept.unfollowed where dataset in (select dataset from added.rescored);
create view added.scores as
select dataset, system, query_id, measure, value
from main.scores
    anti join added.rescored using (dataset, query_id)
    anti join added.lost using (dataset, system, measure)
union all
select dataset, system, query_id, measure, value from added.kept_scores where run = 0;
create view added.run_scores as
select dataset, system, run, query_id, measure, value
from main.run_scores
    anti join added.rescored using (dataset, query_id)
    anti join added.lost using (dataset, system, measure)
union all
select dataset, system, run, query_id, measure, value from added.kept_scores where run > 0;
create view added.means_moved as
select dataset, system, measure, value, value_returned, n_queries, n_unanswered
from kept.means
where overlay = getvariable('overlay')
  and born <= getvariable('seen') and died > getvariable('seen');
create view added.means_of_parts as
select * from main.means where dataset not in (select dataset from added.rescored)
union all
select * from added.means_moved;
create view added.means as
with forums as ({FORUMS}), moved as (
    select * from forums
    where name in (select name from forums where part in (select dataset from added.rescored))
)
select * from added.means_of_parts where dataset not in (select name from moved)
union all {OF_PARTS.format(forums="moved", means="added.means_of_parts")};
"""
