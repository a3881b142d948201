"""The steps that create the tables of the state, and migrate an older state."""

Steps = tuple[tuple[str, ...], ...]

STEPS: Steps = (
    (
        """
        create table parts (
            id text primary key,
            kind text not null,
            dataset text not null,
            system text not null,
            fingerprint text not null,
            "rows" bigint not null,
            bytes bigint not null,
            created text not null,
            provenance text not null,
            job text not null,
            published_version bigint not null,
            retired_version bigint,
            retired_time text
        )
        """,
        "create index parts_identity on parts (kind, dataset, system)",
        """
        create table added_judgements (
            id bigint primary key,
            dataset text not null,
            query_id text not null,
            doc_id text not null,
            relevance bigint,
            person text not null,
            task text not null,
            guideline_version text not null,
            source text not null,
            "time" text not null
        )
        """,
        "create table counters (name text primary key, value bigint not null)",
        "insert into counters (name, value) values ('manifest', 0), ('judgements', 0), ('gone', 0)",
    ),
    (
        # `entry` is the caller's id of a row, so that a row sent twice is saved once.
        "alter table added_judgements add column entry text",
        "alter table added_judgements add column note text not null default ''",
        "alter table added_judgements add column unsure bigint not null default 0",
        "alter table added_judgements add column verified bigint not null default 0",
        "create unique index added_judgements_entry on added_judgements (entry)",
    ),
    (
        # Lists as JSON: systems, grades as [relevance, name], annotators (empty: anybody).
        """
        create table annotation_tasks (
            id text primary key,
            title text not null,
            dataset text not null,
            systems text not null,
            depth bigint not null,
            n_pairs bigint not null,
            ordering text not null,
            seed bigint not null,
            grades text not null,
            annotators text not null,
            double_share double precision not null,
            person text not null,
            created text not null
        )
        """,
        """
        create table annotation_guidelines (
            task text not null,
            version bigint not null,
            "text" text not null,
            person text not null,
            created text not null,
            primary key (task, version)
        )
        """,
        """
        create table annotation_pairs (
            id text primary key,
            task text not null,
            place bigint not null,
            query_id text not null,
            doc_id text not null,
            labels bigint not null
        )
        """,
        "create unique index annotation_pairs_place on annotation_pairs (task, place)",
        """
        create table annotation_turns (
            pair text not null,
            person text not null,
            task text not null,
            status text not null,
            until text not null,
            seconds double precision,
            changed text not null,
            primary key (pair, person)
        )
        """,
        "create index annotation_turns_task on annotation_turns (task, person)",
    ),
    (
        "create table identity (id text primary key)",
        "insert into identity (id) values (:new_identity)",
    ),
    (
        # Clocks can be wrong, so ids decide what counts, and answers are numbered. Imported rows
        # are recognised by values that only imports write, by tasks of other homes, and by times
        # before an earlier row of the same person and pair.
        "alter table added_judgements add column imported text",
        "alter table added_judgements add column takes_back text",
        "alter table annotation_turns add column number bigint not null default 0",
        """
        update added_judgements
        set imported = replace(substr(cast(current_timestamp as text), 1, 19), ' ', 'T')
            || '.000000+00:00'
        where (entry is null or (entry not like 'withdrawn-%' and entry not like 'again-%')) and (
            entry like 'content-%' or source in ('import', 'model')
            or task not in (select id from annotation_tasks) and task not in ('', 'query-page')
        )
        """,
        """
        update added_judgements
        set imported = replace(substr(cast(current_timestamp as text), 1, 19), ' ', 'T')
            || '.000000+00:00'
        from (
            select id as late, max("time") over (
                partition by dataset, query_id, doc_id, person
                order by id rows between unbounded preceding and 1 preceding
            ) as before
            from added_judgements
            where imported is null and substr("time", 1, 10)
                <= substr(cast(current_timestamp as text), 1, 10)
        ) as told
        where id = late and "time" < before
        """,
        """
        update added_judgements set takes_back = named
        from (
            select 'withdrawn-' || id as back, entry as named, dataset as of_dataset,
                query_id as of_query, doc_id as of_document, person as of_person
            from added_judgements
        ) as old
        where entry = back and relevance is null and dataset = of_dataset
            and query_id = of_query and doc_id = of_document and person = of_person
        """,
    ),
    (
        # The original content of existing files is unknown, so they are accepted unverified.
        "alter table parts add column sha256 text not null default ''",
        "alter table parts add column sha256_as text not null default 'found'",
    ),
    (
        # The target of a sampled task, its batches, and the pairs each could have drawn.
        "alter table annotation_tasks add column measure text not null default ''",
        "alter table annotation_tasks add column goal text not null default ''",
        "alter table annotation_tasks add column baseline text not null default ''",
        """
        create table annotation_batches (
            task text not null,
            batch bigint not null,
            frame text not null,
            manifest bigint not null,
            last_judgement bigint not null,
            seed bigint not null,
            predictor text not null,
            done bigint not null,
            created text not null,
            primary key (task, batch)
        )
        """,
        """
        create table annotation_draws (
            task text not null,
            batch bigint not null,
            place bigint not null,
            query_id text not null,
            doc_id text not null,
            size double precision not null,
            priority double precision not null,
            primary key (task, batch, place)
        )
        """,
    ),
    (
        # Consents to send texts, and every request made to an LLM.
        """
        create table text_consents (
            dataset text not null,
            address text not null,
            person text not null,
            created text not null,
            primary key (dataset, address)
        )
        """,
        """
        create table machine_requests (
            id text primary key,
            dataset text not null,
            machine text not null,
            query_id text not null,
            doc_id text not null,
            job text not null,
            prompt text not null,
            tokens bigint not null,
            outcome text,
            relevance bigint,
            reason text not null default '',
            asked text not null
        )
        """,
        "create index machine_requests_of on machine_requests (dataset, machine)",
        "create index machine_requests_job on machine_requests (job)",
    ),
    (
        # A later batch may be drawn from the lists of other systems than the first.
        "alter table annotation_batches add column systems text not null default '[]'",
        """
        update annotation_batches set systems =
            (select systems from annotation_tasks where id = annotation_batches.task)
        """,
    ),
    (
        # `state._apply` then adds its rows, from the judgements as they are.
        "create table judgement_chain (id bigint primary key, sha256 text not null)",
    ),
    (
        # The same for rows of parts; each has the checksum of the row as it was last written.
        "create table part_sums (id text primary key, sha256 text not null)",
    ),
)
"""Step n, from 1, brings the state to format n; steps are appended, never edited. A step may use
`:new_identity`, which is new for each migration. The number of steps is the format version of a
home folder and its state."""
CHAINED = 10
"""The first format in which added judgements have a hash chain."""
SUMMED = 11
"""The first format in which the rows of parts have checksums."""
