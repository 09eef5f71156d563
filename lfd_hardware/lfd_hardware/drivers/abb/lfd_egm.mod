MODULE lfd_egm
    ! Lets a computer guide the arm joint by joint over EGM.
    !
    ! The UDPUC device "LFD" names the computer. The arm follows its set-points until the program is stopped; if the
    ! answers of the computer stay away, the arm stands and the program ends, so that nothing moves by itself when they
    ! come back.

    ! Convergence never ends the guidance: the limits are narrow and the time is long.
    LOCAL CONST egm_minmax window := [-0.01, 0.01];  ! [deg]
    LOCAL CONST num guided_time := 9E8;              ! [s]
    LOCAL CONST num answer_timeout := 0.1;           ! [s] without an answer
    LOCAL CONST num ramp_in := 0.05;                 ! [s]
    LOCAL CONST num speed_limit := 250;              ! [deg/s] each joint; lower it while trying things

    LOCAL VAR egmident guide;

    PROC main()
        ! A previous run may have left its guidance behind.
        EGMReset guide;
        EGMGetId guide;
        EGMSetupUC ROB_1, guide, "default", "LFD" \Joint \CommTimeout:=answer_timeout;
        EGMActJoint guide
            \J1:=window \J2:=window \J3:=window \J4:=window \J5:=window \J6:=window
            \LpFilter:=20 \SampleRate:=4 \MaxPosDeviation:=1000 \MaxSpeedDeviation:=speed_limit;
        WHILE TRUE DO
            EGMRunJoint guide, EGM_STOP_HOLD \J1 \J2 \J3 \J4 \J5 \J6
                \CondTime:=guided_time \RampInTime:=ramp_in \PosCorrGain:=1;
        ENDWHILE
    ERROR
        IF ERRNO = ERR_UDPUC_COMM THEN
            TPWrite "lfd_egm: no answer from the computer, guidance ended";
            EGMReset guide;
            EXIT;
        ENDIF
        RAISE;
    ENDPROC
ENDMODULE
