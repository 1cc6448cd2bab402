"""The command `warm`."""

from __future__ import annotations

from dataclasses import asdict

from shoal.cli import options as opt


@opt.command(
    examples="""
    # after the installation, so that no first run has to compile
    shoal warm --quiet
    """
)
def warm(answer: opt.AnswerOptions) -> int:
    """Compile the kernels of every method beforehand: after that no first run takes longer."""
    from shoal.jobs import warm as job

    done = []
    for each in job.warm():
        done.append(each)
        if not answer.is_silent:
            counts = f"{each.compiled:>3} compiled {each.loaded:>3} loaded"
            print(f"  {each.job:<22}{counts} {each.seconds:>6.1f} s", flush=True)
    folder = job.folder()
    document = {
        "jobs": [asdict(each) for each in done],
        "compiled": sum(each.compiled for each in done),
        "loaded": sum(each.loaded for each in done),
        "folder": None if folder is None else str(folder),
        "seconds": sum(each.seconds for each in done),
    }
    where = "not kept" if folder is None else f"kept in {folder}"
    head = f"{document['compiled']} kernels compiled, {document['loaded']} loaded"
    answer.print(document, f"{head} in {document['seconds']:.1f} s; {where}")
    return 0
